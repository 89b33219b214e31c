/**
 * Clean a text and count its characters exactly as the server does.
 *
 * The table and the steps are those of memory/text/rules.py, which says where they come from. A test compares
 * the two on every class of the table.
 */

export const CODE_POINTS = {
  "line breaks": ["000B-000D 0085 2028-2029"],
  "white space": ["0009-000D 0020 0085 00A0 1680 2000-200A 2028-2029 202F 205F 3000 FEFF"],
  "surrogates": ["D800-DFFF"],
  // Removed wherever they stand.
  "controls": ["0000-0008 000E-001F 007F-0084 0086-009F"],
  "invisible": [
    "00AD 034F", // soft hyphen, combining grapheme joiner
    "115F-1160 3164 FFA0 17B4-17B5", // Hangul fillers, Khmer inherent vowels
    "200B FEFF 2060-2065 206A-206F", // zero-width spaces, word joiner, invisible operators
    "202A-202E 2066-2069", // bidi embeddings, overrides and isolates
    "FE03-FE0D FFF0-FFFB", // selectors without a use, interlinear annotation
    "1BCA0-1BCA3 1D173-1D17A", // shorthand and musical format controls
    "E0000-E00FF E01F0-E0FFF", // tags, and what is reserved to be ignored
  ],
  "noncharacters": [
    "FDD0-FDEF FFFE-FFFF 1FFFE-1FFFF 2FFFE-2FFFF 3FFFE-3FFFF 4FFFE-4FFFF 5FFFE-5FFFF",
    "6FFFE-6FFFF 7FFFE-7FFFF 8FFFE-8FFFF 9FFFE-9FFFF AFFFE-AFFFF BFFFE-BFFFF",
    "CFFFE-CFFFF DFFFE-DFFFF EFFFE-EFFFF FFFFE-FFFFF 10FFFE-10FFFF",
  ],
  // Kept only where their neighbours need them.
  "joiners": ["200C-200D"],
  "directional marks": ["061C 200E-200F"],
  "emoji selectors": ["FE0E-FE0F"],
  "ideograph selectors": ["FE00-FE02 E0100-E01EF"],
  "Mongolian selectors": ["180B-180D 180F"],
  "Mongolian vowel separator": ["180E"],
  // The neighbours that need them. None of these is ever removed.
  "joining letters": [
    "0610-061A 0620-065F 066E-06D3 06D5-06DC 06DF-06E8 06EA-06EF 06FA-06FF", // Arabic
    "0710-077F 07CA-07F5 0840-085B 0860-088F 0897-08E1 08E3-08FF", // Syriac, N'Ko, Mandaic, Arabic
    "0900-0963 0971-0983 0985-09E3 09F0-09F1 09FC 09FE", // Devanagari, Bengali
    "0A01-0A5E 0A70-0A75 0A81-0AE3 0AF9-0AFF 0B01-0B63 0B71", // Gurmukhi, Gujarati, Oriya
    "0B82-0BD7 0C00-0C63 0C80-0CE3 0CF1-0CF3", // Tamil, Telugu, Kannada
    "0D00-0D4E 0D54-0D57 0D5F-0D63 0D7A-0D7F 0D81-0DDF 0DF2-0DF3", // Malayalam, Sinhala
    "0F00 0F18-0F19 0F35 0F37 0F39 0F3E-0F84 0F86-0FBC 0FC6", // Tibetan
    "1000-103F 1050-108F 109A-109D A9E0-A9EF A9FA-A9FE AA60-AA76 AA7A-AA7F", // Myanmar
    "1700-1734 1740-1753 1760-1773", // Tagalog, Hanunoo, Buhid, Tagbanwa
    "1780-17B3 17B6-17D3 17D7 17DC-17DD 1820-18AA 1900-193B", // Khmer, Mongolian, Limbu
    "1A20-1A7F 1B00-1B4C 1B80-1BAF 1BBA-1BF3 1C00-1C37 1C4D-1C4F", // Tai Tham to Lepcha
    "1CD0-1CFA A800-A827 A82C A840-A873 A880-A8C5 A8E0-A8F7 A8FB A8FD-A8FF", // Vedic to Saurashtra
    "A930-A953 A980-A9C0 AA00-AA4D AAE0-AAEF AAF2-AAF6 ABC0-ABEA ABEC-ABED", // Rejang to Meetei Mayek
    "10A00-10A3F 10AC0-10AE6 10B80-10B91 10D00-10D27 10EC2-10EFF 10F30-10FCB", // Kharoshthi to Chorasmian
    "11000-11FAF 1E900-1E94B", // Brahmi and its relatives of plane 1, Adlam
  ],
  "viramas": [
    "094D 09CD 0A4D 0ACD 0B4D 0BCD 0C4D 0CCD 0D3B-0D3C 0D4D 0DCA 0F84 1039-103A 1714-1715 1734 17D2",
    "1A60 1B44 1BAA-1BAB 1BF2-1BF3 A806 A82C A8C4 A953 A9C0 AAF6 ABED 10A3F 11046 11070 1107F 110B9",
    "11133-11134 111C0 11235 112EA 1134D 113CE-113D0 11442 114C2 115BF 1163F 116B6 1172B 11839",
    "1193D-1193E 119E0 11A34 11A47 11A99 11C3F 11D44-11D45 11D97 11F41-11F42",
  ],
  "Mongolian letters": ["1820-1878 1880-18AA"],
  "right-to-left letters": [
    "05D0-05F2 0620-064A 066E-066F 0671-06D3 06D5 06E5-06E6 06EE-06EF 06FA-06FF 0710-07A5 07B1",
    "07CA-07EA 07F4-07F5 07FA 0800-0815 081A 0824 0828 0840-0858 0860-088F 08A0-08C9",
    "FB1D-FD3D FD50-FDC7 FDF0-FDFC FE70-FEFC 10800-10FFF 1E800-1EFFF",
  ],
  "ideographs": ["3400-4DBF 4E00-9FFF F900-FAFF 20000-2FFFD 30000-3FFFD"],
  "pictographs": [
    "00A9 00AE 203C 2049 2122 2139 2194-2199 21A9-21AA 231A-231B 2328 2388 23CF 23E9-23F3 23F8-23FA",
    "24C2 25AA-25AB 25B6 25C0 25FB-25FE 2600-27BF 2934-2935 2B05-2B07 2B1B-2B1C 2B50 2B55",
    "3030 303D 3297 3299 1F000-1F1E5 1F200-1F3FA 1F400-1FAFF 1FC00-1FFFD",
  ],
  "skin tones": ["1F3FB-1F3FF"],
  "keycap bases": ["0023 002A 0030-0039"],
  "keycap": ["20E3"],
};

/** England, Scotland, Wales: the only flags recommended for interchange that are written with tags. */
export const FLAGS = ["gbeng", "gbsct", "gbwls"];

const REMOVED = ["controls", "invisible", "noncharacters"];
const CONDITIONAL = [
  "joiners",
  "directional marks",
  "emoji selectors",
  "ideograph selectors",
  "Mongolian selectors",
  "Mongolian vowel separator",
];
const ZERO_WIDTH_JOINER = "\u200d";
const EMOJI_PRESENTATION = "\ufe0f";

/** Write classes of the table as one character class of a regular expression. */
function oneOf(...names) {
  const spans = names.flatMap((name) => CODE_POINTS[name].join(" ").split(" "));
  return `[${spans.map((span) => span.replace(/[0-9A-F]+/g, "\\u{$&}")).join("")}]`;
}

/** Write a region's flag: the black flag, the region in tag characters, the closing tag. */
function flag(region) {
  const tags = Array.from(region, (letter) => String.fromCodePoint(0xe0000 + letter.codePointAt(0)));
  return `\u{1f3f4}${tags.join("")}\u{e007f}`;
}

const LINE_BREAK = new RegExp(`\r\n|${oneOf("line breaks")}`, "gu");
const LONE_SURROGATE = new RegExp(oneOf("surrogates"), "gu"); // with the flag u, a pair is one character
const FLAG_OR_REMOVED = new RegExp(`(${FLAGS.map(flag).join("|")})|${oneOf(...REMOVED)}+`, "u");
const CONDITIONAL_CHARACTER = new RegExp(`(${oneOf(...CONDITIONAL)})`, "u");
const MEMBER = Object.fromEntries(Object.keys(CODE_POINTS).map((name) => [name, new RegExp(oneOf(name), "u")]));

/**
 * Return the text as it is stored: LF line ends, nothing invisible that no script needs, trimmed.
 *
 * @param {string} text any string
 * @returns {string}
 */
export function clean(text) {
  const lines = text
    .replace(LINE_BREAK, "\n")
    .replace(LONE_SURROGATE, "\ufffd")
    .split(FLAG_OR_REMOVED) // the pieces between, and each flag; undefined, which joins as nothing, for the rest
    .join("")
    .split("\n");
  return trim(lines.map(keepNeeded).join("\n"));
}

/**
 * Count the characters (Unicode code points, not UTF-16 units) that are stored of a text.
 *
 * @param {string} text any string
 * @returns {number} the length of the cleaned text
 */
export function count(text) {
  let characters = 0;
  for (const _ of clean(text)) characters += 1;
  return characters;
}

/** Remove outer white space; it is all in the basic plane, so that one unit is one character. */
function trim(text) {
  let start = 0;
  let end = text.length;
  while (start < end && isIn("white space", text[start])) start += 1;
  while (end > start && isIn("white space", text[end - 1])) end -= 1;
  return text.slice(start, end);
}

/**
 * Drop from one line each conditional character that its neighbours do not need.
 *
 * The neighbour before is the last one kept and the neighbour after an unconditional one, so that of several
 * in a row at most one stays, and stays when the text is cleaned again.
 */
function keepNeeded(line) {
  const pieces = line.split(CONDITIONAL_CHARACTER);
  const rightToLeft = isIn("right-to-left letters", line);
  let kept = pieces[0];
  let before = lastCharacter(kept);
  for (let at = 1; at < pieces.length; at += 2) {
    const [character, following] = [pieces[at], pieces[at + 1]];
    if (isNeeded(character, before, firstCharacter(following), rightToLeft)) {
      kept += character;
      before = character;
    }
    if (following) {
      kept += following;
      before = lastCharacter(following);
    }
  }
  return kept;
}

/** Say whether a conditional character does something between these two neighbours ("" at an edge). */
function isNeeded(character, before, after, rightToLeft) {
  switch (CONDITIONAL.find((name) => isIn(name, character))) {
    case "joiners":
      return (
        (isIn("joining letters", before) && isIn("joining letters", after)) ||
        isIn("viramas", before) ||
        (character === ZERO_WIDTH_JOINER && joinsEmoji(before, after))
      );
    case "directional marks":
      return rightToLeft && !isIn("directional marks", before);
    case "emoji selectors": {
      const isKeycap = isIn("keycap bases", before) && isIn("keycap", after);
      return isKeycap || isIn("pictographs", before);
    }
    case "ideograph selectors":
      return isIn("ideographs", before);
    case "Mongolian selectors":
      return isIn("Mongolian letters", before);
    default:
      return isIn("Mongolian letters", before) && isIn("Mongolian letters", after);
  }
}

/** Say whether a joiner here is inside an emoji sequence; a selector was kept only after a pictograph. */
function joinsEmoji(before, after) {
  const isEmoji = before === EMOJI_PRESENTATION || isIn("pictographs", before) || isIn("skin tones", before);
  return isEmoji && isIn("pictographs", after);
}

/** Say whether a text holds a character of a class of the table. */
function isIn(name, text) {
  return MEMBER[name].test(text);
}

function firstCharacter(text) {
  return Array.from(text.slice(0, 2))[0] ?? "";
}

function lastCharacter(text) {
  return Array.from(text.slice(-2)).at(-1) ?? "";
}
