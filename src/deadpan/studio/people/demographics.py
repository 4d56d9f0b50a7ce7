"""Facts people give about themselves, chosen from lists, so that answers can be compared."""

from __future__ import annotations

from typing import Any

from django.utils.functional import lazy
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

_COUNTRY_TABLE = """
AF Afghanistan=아프가니스탄 AL Albania=알바니아 DZ Algeria=알제리 AD Andorra=안도라 AO Angola=앙골라
AG Antigua_and_Barbuda=앤티가_바부다 AR Argentina=아르헨티나 AM Armenia=아르메니아 AU Australia=호주
AT Austria=오스트리아 AZ Azerbaijan=아제르바이잔 BS Bahamas=바하마 BH Bahrain=바레인
BD Bangladesh=방글라데시 BB Barbados=바베이도스 BY Belarus=벨라루스 BE Belgium=벨기에 BZ Belize=벨리즈
BJ Benin=베냉 BT Bhutan=부탄 BO Bolivia=볼리비아 BA Bosnia_and_Herzegovina=보스니아_헤르체고비나
BW Botswana=보츠와나 BR Brazil=브라질 BN Brunei=브루나이 BG Bulgaria=불가리아 BF Burkina_Faso=부르키나파소
BI Burundi=부룬디 KH Cambodia=캄보디아 CM Cameroon=카메룬 CA Canada=캐나다 CV Cabo_Verde=카보베르데
CF Central_African_Republic=중앙아프리카_공화국 TD Chad=차드 CL Chile=칠레 CN China=중국
CO Colombia=콜롬비아 KM Comoros=코모로 CG Congo=콩고 CD Democratic_Republic_of_the_Congo=콩고_민주_공화국
CR Costa_Rica=코스타리카 CI Côte_d’Ivoire=코트디부아르 HR Croatia=크로아티아 CU Cuba=쿠바 CY Cyprus=키프로스
CZ Czechia=체코 DK Denmark=덴마크 DJ Djibouti=지부티 DM Dominica=도미니카_연방
DO Dominican_Republic=도미니카_공화국 EC Ecuador=에콰도르 EG Egypt=이집트 SV El_Salvador=엘살바도르
GQ Equatorial_Guinea=적도_기니 ER Eritrea=에리트레아 EE Estonia=에스토니아 SZ Eswatini=에스와티니
ET Ethiopia=에티오피아 FJ Fiji=피지 FI Finland=핀란드 FR France=프랑스 GA Gabon=가봉 GM Gambia=감비아
GE Georgia=조지아 DE Germany=독일 GH Ghana=가나 GR Greece=그리스 GD Grenada=그레나다 GT Guatemala=과테말라
GN Guinea=기니 GW Guinea-Bissau=기니비사우 GY Guyana=가이아나 HT Haiti=아이티 HN Honduras=온두라스
HK Hong_Kong=홍콩 HU Hungary=헝가리 IS Iceland=아이슬란드 IN India=인도 ID Indonesia=인도네시아 IR Iran=이란
IQ Iraq=이라크 IE Ireland=아일랜드 IL Israel=이스라엘 IT Italy=이탈리아 JM Jamaica=자메이카 JP Japan=일본
JO Jordan=요르단 KZ Kazakhstan=카자흐스탄 KE Kenya=케냐 KI Kiribati=키리바시 KP North_Korea=북한
KR South_Korea=대한민국 KW Kuwait=쿠웨이트 KG Kyrgyzstan=키르기스스탄 LA Laos=라오스 LV Latvia=라트비아
LB Lebanon=레바논 LS Lesotho=레소토 LR Liberia=라이베리아 LY Libya=리비아 LI Liechtenstein=리히텐슈타인
LT Lithuania=리투아니아 LU Luxembourg=룩셈부르크 MO Macao=마카오 MG Madagascar=마다가스카르 MW Malawi=말라위
MY Malaysia=말레이시아 MV Maldives=몰디브 ML Mali=말리 MT Malta=몰타 MH Marshall_Islands=마셜_제도
MR Mauritania=모리타니 MU Mauritius=모리셔스 MX Mexico=멕시코 FM Micronesia=미크로네시아 MD Moldova=몰도바
MC Monaco=모나코 MN Mongolia=몽골 ME Montenegro=몬테네그로 MA Morocco=모로코 MZ Mozambique=모잠비크
MM Myanmar=미얀마 NA Namibia=나미비아 NR Nauru=나우루 NP Nepal=네팔 NL Netherlands=네덜란드
NZ New_Zealand=뉴질랜드 NI Nicaragua=니카라과 NE Niger=니제르 NG Nigeria=나이지리아
MK North_Macedonia=북마케도니아 NO Norway=노르웨이 OM Oman=오만 PK Pakistan=파키스탄 PW Palau=팔라우
PS Palestine=팔레스타인 PA Panama=파나마 PG Papua_New_Guinea=파푸아뉴기니 PY Paraguay=파라과이 PE Peru=페루
PH Philippines=필리핀 PL Poland=폴란드 PT Portugal=포르투갈 PR Puerto_Rico=푸에르토리코 QA Qatar=카타르
RO Romania=루마니아 RU Russia=러시아 RW Rwanda=르완다 KN Saint_Kitts_and_Nevis=세인트키츠_네비스
LC Saint_Lucia=세인트루시아 VC Saint_Vincent_and_the_Grenadines=세인트빈센트_그레나딘 WS Samoa=사모아
SM San_Marino=산마리노 ST São_Tomé_and_Príncipe=상투메_프린시페 SA Saudi_Arabia=사우디아라비아
SN Senegal=세네갈 RS Serbia=세르비아 SC Seychelles=세이셸 SL Sierra_Leone=시에라리온 SG Singapore=싱가포르
SK Slovakia=슬로바키아 SI Slovenia=슬로베니아 SB Solomon_Islands=솔로몬_제도 SO Somalia=소말리아
ZA South_Africa=남아프리카_공화국 SS South_Sudan=남수단 ES Spain=스페인 LK Sri_Lanka=스리랑카 SD Sudan=수단
SR Suriname=수리남 SE Sweden=스웨덴 CH Switzerland=스위스 SY Syria=시리아 TW Taiwan=대만
TJ Tajikistan=타지키스탄 TZ Tanzania=탄자니아 TH Thailand=태국 TL Timor-Leste=동티모르 TG Togo=토고
TO Tonga=통가 TT Trinidad_and_Tobago=트리니다드_토바고 TN Tunisia=튀니지 TR Türkiye=튀르키예
TM Turkmenistan=투르크메니스탄 TV Tuvalu=투발루 UG Uganda=우간다 UA Ukraine=우크라이나
AE United_Arab_Emirates=아랍에미리트 GB United_Kingdom=영국 US United_States=미국 UY Uruguay=우루과이
UZ Uzbekistan=우즈베키스탄 VU Vanuatu=바누아투 VA Vatican_City=바티칸_시국 VE Venezuela=베네수엘라
VN Vietnam=베트남 YE Yemen=예멘 ZM Zambia=잠비아 ZW Zimbabwe=짐바브웨
"""
_OTHER_COUNTRY_NAMES = {
    "uk": "GB", "britain": "GB", "great britain": "GB", "england": "GB", "scotland": "GB", "wales": "GB",
    "northern ireland": "GB", "u.k.": "GB", "usa": "US", "u.s.a.": "US", "u.s.": "US", "america": "US",
    "united states of america": "US", "미합중국": "US", "korea": "KR", "republic of korea": "KR",
    "한국": "KR", "남한": "KR", "조선": "KP", "turkey": "TR", "터키": "TR", "czech republic": "CZ",
    "russian federation": "RU", "오스트레일리아": "AU", "타이완": "TW", "ivory coast": "CI", "burma": "MM",
    "holland": "NL", "deutschland": "DE", "españa": "ES", "일본국": "JP", "viet nam": "VN", "uae": "AE",
}  # fmt: skip


def _read_countries() -> dict[str, tuple[str, str]]:
    words = _COUNTRY_TABLE.split()
    found = {}
    for code, names in zip(words[::2], words[1::2], strict=True):
        english, korean = names.replace("_", " ").split("=")
        found[code] = (english, korean)
    return found


# Code: English and Korean name.
_COUNTRY_NAMES = _read_countries()
_COUNTRY_CODES = {name.casefold(): code for code, names in _COUNTRY_NAMES.items() for name in names}
_COUNTRY_CODES |= {code.casefold(): code for code in _COUNTRY_NAMES} | _OTHER_COUNTRY_NAMES
"""Every way people write a country: its code."""


def country_code(text: str) -> str:
    """Return the two-letter code of a country as people write it; empty if it is not one."""
    return _COUNTRY_CODES.get(" ".join(text.casefold().split()).removeprefix("the "), "")


def country_name(code: str, language: str) -> str:
    """Return the name of a country in English or Korean; a code that is unknown is returned as it is."""
    names = _COUNTRY_NAMES.get(code)
    return code if names is None else names[1 if language.startswith("ko") else 0]


GENDERS: tuple[tuple[str, Any], ...] = (("female", _("female")), ("male", _("male")), ("other", _("other")))
_GENDER_WORDS = {
    "f": "female", "woman": "female", "여성": "female", "여자": "female", "여": "female",
    "m": "male", "man": "male", "남성": "male", "남자": "male", "남": "male", "기타": "other",
}  # fmt: skip


def _countries() -> list[tuple[str, str]]:
    language = get_language() or "en"
    return sorted(((code, country_name(code, language)) for code in _COUNTRY_NAMES), key=lambda row: row[1])


COUNTRIES = lazy(_countries, list)()
"""(code, name) of every country, sorted by its name in the reader's language."""


def country_choices() -> list[tuple[str, Any]]:
    """Return the countries after an empty choice, for a form."""
    return [("", _("rather not say")), *_countries()]


def plain_fact(name: str, value: str) -> str:
    """Return a country's code or a gender's word, however it was written; other text in small letters."""
    text = " ".join(value.casefold().split())
    if "country" in name:
        return country_code(text) or text
    if name == "gender":
        return _GENDER_WORDS.get(text, text)
    return text


def same_fact(name: str, wanted: str, given: str) -> bool:
    """Return whether two ways of writing a fact mean the same: UK, United Kingdom, 영국."""
    return plain_fact(name, wanted) == plain_fact(name, given)
