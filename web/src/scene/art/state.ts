// What a state word means for a drawing. Words come from scenarios in English and Korean; an unknown one changes nothing.

export type Mode = "on" | "off" | "open" | "closed" | "broken" | "empty" | "full" | "used" | "";

// biome-ignore format: a table
const WORDS: Readonly<Record<Exclude<Mode, "">, readonly string[]>> = {
  broken: ["broken", "jammed", "torn", "crooked", "sparking", "cracked", "stopped", "plundered", "sulking", "고장", "멈춤", "찢", "부서", "깨짐"],
  on: [
    "lit", "on", "burning", "hot", "steaming", "simmering", "boiling", "playing", "on-air", "glowing", "running", "trickling", "leaping", "roaring",
    "humming", "busy", "going", "ready", "twitching", "trading", "flying", "purring", "awake", "ringing", "켜짐", "끓음", "뜨거움", "뜨끈함", "나옴",
    "울림", "회전", "지직거림", "감", "대국",
  ],
  off: [
    "dark", "off", "unlit", "cold", "silent", "resting", "dry", "drowsy", "asleep", "still", "waiting", "꺼짐", "식음", "조용함", "마름", "쉼", "고요함", "미지근함",
  ],
  open: ["open", "unlocked", "up", "열림"],
  closed: ["shut", "closed", "locked", "down", "shuttered", "furled", "닫힘", "잠김", "덮임", "덮여"],
  used: ["rumpled", "unmade", "strewn", "mid-game", "taken", "pinned", "papered", "폄", "펼침", "어수선함", "가루투성이", "비늘투성이", "기울음", "흐림"],
  empty: ["empty", "drained", "bare", "low", "picked-over", "비었음", "반쯤", "녹음", "까치밥"],
  full: ["full", "filled", "stocked", "brimming", "watered", "made", "가득함", "주렁주렁", "차림", "실음", "따뜻함", "맑음"],
};

const MODES = new Map<string, Mode>();
for (const [mode, words] of Object.entries(WORDS)) for (const word of words) MODES.set(word, mode as Mode);

export function modeOf(state: string): Mode {
  const word = state.trim().toLowerCase();
  const exact = MODES.get(word);
  if (exact) return exact;
  for (const part of word.split(/[\s_-]+/)) {
    const found = MODES.get(part);
    if (found) return found;
  }
  return "";
}
