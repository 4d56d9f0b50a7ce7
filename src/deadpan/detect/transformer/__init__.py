"""Fine-tuned encoders: any model of the transformers library with the context and the response as a pair."""
