// Score texts with the service, and stream a language model's reading, in Node 18 or newer or in a browser.
// Start the service first: deadpan serve. Then: node detect.mjs "Great, another Monday."
const url = globalThis.process?.env.DEADPAN_URL ?? "http://127.0.0.1:8080";

export async function detect(body) {
  const answer = await fetch(`${url}/v1/detect`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const told = await answer.json();
  if (!answer.ok) throw new Error(`${told.error.message} (request ${told.request_id})`);
  return told.results;
}

export async function* reading(body) {
  const answer = await fetch(`${url}/v1/reading`, { method: "POST", body: JSON.stringify(body) });
  if (!answer.ok) throw new Error((await answer.json()).error.message);
  let rest = "";
  for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
    const events = (rest + part).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const data = JSON.parse(event.split("\ndata: ")[1]);
      if (data.error) throw new Error(data.error.message);
      if (data.text) yield data.text;
    }
  }
}

const texts = globalThis.process?.argv.slice(2) ?? [];
if (texts.length) {
  for (const [place, result] of (await detect({ texts })).entries()) {
    console.log(result.score?.toFixed(2) ?? "-", result.label, texts[place]);
  }
}
