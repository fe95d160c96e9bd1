// What the words of a scenario look like: names and kinds in English and Korean become sprites and kinds of places.

import type { GroundKind, Lies, RoomKind, Sprite } from "./map";

type Words<T extends string> = readonly (readonly [T, string])[];

// biome-ignore format: a table
const SPRITES: Words<Sprite> = [
  ["vegetables", "vegetable, vegetable bed, tomato bed, herb bed, garden bed, tomato, cabbage, pumpkin, crop, seedling, herb, 텃밭, 채소, 상추, 배추, 고추밭, 모종"],
  ["flowers", "flower bed, rose bed, flower, rose, tulip, bouquet, lily, vase, 꽃, 꽃밭, 화단, 꽃병, 장미"],
  ["bed", "bed, futon, bunk, bunk bed, hammock, berth, cot, mattress, bedding, bedroll, sleeping bag, quilt, 침대, 이불, 요, 담요, 침낭, 매트리스, 잠자리, 해먹"],
  ["cradle", "cradle, crib, 요람"],
  ["stove", "stove, oven, cooker, hob, range, grill, 난로, 화덕, 오븐, 가스레인지, 버너"],
  ["hearth", "hearth, fireplace, chimney, 벽난로, 아궁이"],
  ["fire", "fire, campfire, bonfire, brazier, 모닥불, 화로"],
  ["pot", "pot, cauldron, pan, wok, 냄비, 솥, 가마솥, 프라이팬, 항아리, 장독"],
  ["steamer", "steamer, 시루, 찜통"],
  ["mortar", "mortar, pestle, 절구, 맷돌"],
  ["counter", "counter, bar counter, till, cash register, cash desk, reception, 계산대, 카운터"],
  ["table", "table, dining table, window table, 식탁, 탁자, 상, 테이블, 밥상"],
  ["roundtable", "round table, coffee table, tea table, 원탁, 찻상, 다탁"],
  ["desk", "desk, writing desk, bureau, secretary, 책상, 서안"],
  ["chair", "chair, armchair, seat, throne, rocking chair, 의자, 안락의자, 흔들의자"],
  ["stool", "stool, cushion, 방석, 걸상"],
  ["sofa", "sofa, couch, settee, 소파"],
  ["shelf", "shelf, shelves, rack, larder, pantry, display, 선반, 진열대, 찬장"],
  ["bookshelf", "bookshelf, bookshelves, bookcase, archive, card catalogue, 책장, 책꽂이, 서가"],
  ["cupboard", "cupboard, cabinet, medicine cabinet, sideboard, locker, filing cabinet, 캐비닛, 수납장, 사물함"],
  ["drawers", "drawers, drawer, dresser, chest of drawers, 서랍, 서랍장, 약장, 문갑"],
  ["chest", "chest, trunk, coffer, suitcase, 궤짝, 궤, 함, 상자함, 트렁크"],
  ["wardrobe", "wardrobe, closet, costume rack, 옷장, 장롱, 옷걸이"],
  ["lamp", "lamp, light, electric light, night lamp, desk lamp, floor lamp, streetlight, candle, candelabra, 등, 전등, 램프, 스탠드, 가로등, 촛불, 등불"],
  ["lantern", "lantern, hand lantern, torch, 손전등, 호롱, 랜턴, 초롱"],
  ["lights", "lanterns, paper lanterns, bulbs, string lights, fairy lights, garland, 알전구, 알전구 줄, 연등, 청사초롱"],
  ["stonelantern", "stone lantern, 석등"],
  ["radio", "radio, small radio, wireless, transmitter, receiver, transistor, 라디오, 무전기, 송신기"],
  ["gramophone", "gramophone, turntable, record player, jukebox, phonograph, 전축, 축음기, 턴테이블"],
  ["drone", "drone, robot, android, 드론, 로봇"],
  ["console", "console, terminal, computer, control panel, switchboard, telegraph, server, 콘솔, 단말기, 컴퓨터, 제어판"],
  ["screen", "screen, television, tv, monitor, projector, 텔레비전, 화면, 모니터, 스크린"],
  ["arcade", "arcade machine, arcade, pinball, game machine, moon courier machine, 오락기, 게임기"],
  ["claw", "claw machine, 인형뽑기, 뽑기"],
  ["vending", "vending, vending machine, drinks machine, ticket machine, 자판기"],
  ["fridge", "fridge, refrigerator, freezer, ice box, icebox, 냉장고, 얼음 궤짝, 냉동고"],
  ["piano", "piano, organ, harpsichord, keyboard, 피아노, 풍금, 오르간"],
  ["guitar", "guitar, lute, ukulele, banjo, 기타, 통기타, 가야금, 거문고"],
  ["violin", "violin, fiddle, cello, viola, 바이올린, 해금, 첼로"],
  ["drum", "drum, gong, 북, 장구, 징, 꽹과리"],
  ["tree", "tree, oak, linden, apple tree, willow, 나무, 감나무, 느티나무, 은행나무, 소나무"],
  ["well", "well, wishing well, 우물, 샘"],
  ["pump", "pump, hydrant, tap, 펌프, 작두펌프, 수도"],
  ["fountain", "fountain, 분수, 분수대"],
  ["bench", "bench, pew, 벤치, 평상, 긴 의자"],
  ["stall", "stall, kiosk, booth, stand, market stall, 노점, 좌판, 가판대, 포장마차"],
  ["awning", "awning, canopy, parasol, tarp, 차양, 천막, 파라솔"],
  ["boat", "boat, rowboat, canoe, skiff, ferry, raft, dinghy, 배, 나룻배, 보트, 뗏목"],
  ["bridge", "bridge, footbridge, 다리, 징검다리"],
  ["statue", "statue, monument, sculpture, bust, obelisk, 동상, 석상, 장승, 조각상, 비석"],
  ["clock", "clock, wall clock, watch, cuckoo clock, cuckoo, hourglass, grandfather clock, 시계, 뻐꾸기시계, 괘종시계"],
  ["towerclock", "tower clock, clock tower, town clock, sundial, 시계탑, 시장 시계, 해시계"],
  ["sign", "sign, signboard, neon, sign light, cross, 간판, 표지판, 네온"],
  ["board", "board, notice board, noticeboard, blackboard, whiteboard, bulletin board, pinboard, chalkboard, 게시판, 칠판, 알림판, 메모판"],
  ["door", "door, gate, 문, 대문"],
  ["window", "window, skylight, 창, 창문"],
  ["shutters", "shutter, shutters, 셔터, 덧문"],
  ["plant", "plant, fern, cactus, orchid, bonsai, flowerpot, houseplant, 화분, 난초, 선인장, 분재"],
  ["bucket", "bucket, pail, watering can, mop, broom, 양동이, 물뿌리개, 바가지, 빗자루, 대야"],
  ["barrel", "barrel, rain barrel, cask, keg, water tank, 통, 물통, 빗물통, 드럼통"],
  ["crate", "crate, vegetable crate, persimmon crate, pallet, 나무 상자, 상자, 사과 상자"],
  ["box", "box, parcel, package, cat box, cardboard, cashbox, tin, 소포, 택배"],
  ["basket", "basket, hamper, 바구니, 광주리, 소쿠리"],
  ["sack", "sack, bag, backpack, satchel, flour, 자루, 가방, 배낭, 쌀자루, 밀가루"],
  ["tool", "tool, loupe, tweezers, scissors, lens, hammer, saw, rake, spade, shovel, hoe, axe, wrench, ladder, 망치, 톱, 삽, 호미, 괭이, 도끼, 사다리, 연장"],
  ["toolbox", "toolbox, toolbag, tool bag, tool kit, kit, 공구함, 공구 가방, 공구상자"],
  ["workbench", "workbench, work bench, worktable, lathe, drill, 작업대, 선반기계"],
  ["anvil", "anvil, forge, 모루, 대장간 화덕"],
  ["loom", "loom, spinning wheel, sewing machine, 베틀, 물레, 재봉틀"],
  ["book", "book, notebook, diary, journal, ledger, manuscript, novel, 책, 공책, 일기장, 장부, 노트, 사전, 족보"],
  ["books", "books, book piles, book pile, library, 책 더미, 책더미"],
  ["paper", "paper, letter, map, poster, poem, newspaper, script, photograph, photo, envelope, ticket, 편지, 지도, 종이, 신문, 쪽지, 원고, 사진, 대본"],
  ["cup", "cup, mug, glass, teacup, thermos, flask, 잔, 컵, 찻잔, 보온병"],
  ["bottle", "bottle, jar, wine, potion, medicine, pills, vial, 병, 약병, 술병, 유리병, 약"],
  ["kettle", "kettle, teapot, tea set, 주전자, 찻주전자, 다기"],
  ["samovar", "samovar, urn, 사모바르"],
  ["coffee", "coffee machine, espresso machine, coffee maker, coffee, 커피 머신, 커피메이커, 커피 기계"],
  ["bowl", "bowl, offering bowl, dish, plate, 그릇, 사발, 접시, 대접"],
  ["tray", "tray, cutting board, chopping board, board block, 쟁반, 도마, 떡판"],
  ["food", "food, bread, cake, fish, soup, noodles, fruit, apple, cheese, pie, basket of food, 빵, 떡, 생선, 과일, 음식, 국수, 김치, 반찬"],
  ["cat", "cat, kitten, 고양이"],
  ["dog", "dog, puppy, hound, 개, 강아지"],
  ["bird", "bird, parrot, birdcage, owl, canary, pigeon, 새, 앵무새, 새장, 비둘기"],
  ["hen", "hen, chicken, rooster, henhouse, coop, goose, duck, 닭, 닭장, 오리, 거위"],
  ["cow", "cow, horse, goat, sheep, pig, donkey, ox, 소, 말, 염소, 양, 돼지"],
  ["tub", "tub, bath, bathtub, hot tub, pool, 욕조, 온탕, 냉탕, 탕"],
  ["basin", "basin, sink, washbasin, toilet, 세면대, 싱크대, 개수대"],
  ["boiler", "boiler, furnace, kiln, generator, heater, 보일러, 가마, 발전기"],
  ["engine", "engine, motor, pump engine, turbine, ferry engine, car, tractor, 엔진, 모터, 트럭, 자동차, 경운기"],
  ["machine", "machine, printer, printing press, press, device, apparatus, 기계, 인쇄기, 장치, 제면기"],
  ["bell", "bell, temple bell, chime, wind chime, 종, 풍경, 방울"],
  ["antenna", "antenna, aerial, mast, dish antenna, satellite dish, 안테나"],
  ["umbrella", "umbrella, 우산, 양산"],
  ["kite", "kite, 연"],
  ["tank", "tank, aquarium, fish tank, terrarium, 수조, 어항, 수족관"],
  ["safe", "safe, vault, strongbox, 금고"],
  ["scale", "scale, scales, balance, 저울, 체중계"],
  ["cart", "cart, handcart, wagon, wheelbarrow, trolley, rickshaw, 수레, 손수레, 리어카"],
  ["bicycle", "bicycle, bike, scooter, motorbike, 자전거, 오토바이"],
  ["speaker", "speaker, loudspeaker, megaphone, amplifier, 확성기, 스피커"],
  ["microphone", "microphone, mic, 마이크"],
  ["typewriter", "typewriter, laptop, 타자기, 노트북"],
  ["easel", "easel, canvas, painting easel, 이젤, 캔버스"],
  ["picture", "picture, painting, portrait, mural, tapestry, scroll, 그림, 초상화, 벽화, 족자"],
  ["mirror", "mirror, 거울"],
  ["rug", "rug, carpet, mat, 깔개, 양탄자, 돗자리, 멍석"],
  ["curtain", "curtain, blind, folding screen, 커튼, 병풍"],
  ["partition", "partition, room divider, 칸막이"],
  ["hive", "hive, beehive, 벌통"],
  ["torii", "torii, arch, archway, gateway, 홍살문, 일주문"],
  ["altar", "altar, shrine, offering table, 제단, 불상, 사당"],
  ["grave", "grave, tombstone, gravestone, tomb, 무덤, 묘비, 산소"],
  ["chess", "chess, chess set, chessboard, board game, checkers, card table, go board, janggi, 장기, 장기판, 바둑판, 체스"],
  ["stage", "stage, podium stage, bandstand, platform, 무대, 연단"],
  ["pavilion", "pavilion, gazebo, 정자"],
  ["swing", "swing, see saw, seesaw, 그네, 시소"],
  ["slide", "slide, jungle gym, 미끄럼틀"],
  ["scarecrow", "scarecrow, 허수아비"],
  ["hay", "hay, haystack, straw, 건초, 짚더미, 볏짚"],
  ["letterbox", "letterbox, mailbox, postbox, post box, 우체통, 우편함"],
  ["barometer", "barometer, thermometer, gauge, 기압계, 온도계"],
  ["compass", "compass, 나침반"],
  ["telescope", "telescope, microscope, 망원경, 현미경"],
  ["phone", "phone, telephone, 전화, 전화기, 휴대폰"],
  ["camera", "camera, 카메라, 사진기"],
  ["toy", "toy, doll, teddy, puppet, puzzle, 장난감, 인형, 퍼즐"],
  ["ball", "ball, 공, 축구공"],
  ["flag", "flag, banner, pennant, 깃발, 현수막"],
  ["tent", "tent, 텐트"],
  ["lectern", "lectern, podium, pulpit, 강단, 교탁, 강연대"],
  ["globe", "globe, orrery, crystal ball, 지구본"],
  ["rock", "rock, stone, boulder, 바위, 돌"],
  ["washline", "washing line, clothesline, laundry, 빨래, 빨랫줄"],
  ["key", "key, lock, ring, coin, necklace, 열쇠, 반지, 동전, 목걸이"],
];

// biome-ignore format: a table
const ROOMS: Words<RoomKind> = [
  ["kitchen", "kitchen, galley, pantry, scullery, 부엌, 주방"],
  ["bedroom", "bedroom, bunk, bunkroom, loft, attic, den, chamber, dormitory, sleeping room, room, 방, 안방, 골방, 쪽방, 다락, 침실, 이층, 옥탑방, 기숙사"],
  ["home", "home, flat, house, apartment, cottage, residence, hut, cabin, villa, manor, mansion, 집, 댁, 아파트, 빌라, 오두막, 초가"],
  ["cafe", "cafe, café, bar, noodle bar, teahouse, tea house, tea room, pub, tavern, restaurant, diner, canteen, coffee shop, coffeehouse, bistro, izakaya, 카페, 찻집, 다방, 식당, 국숫집, 국수집, 주점, 술집, 분식, 분식집, 밥집, 커피숍, 치킨집, 포차"],
  ["bakery", "bakery, baker, patisserie, confectionery, 빵집, 떡집, 제과점, 베이커리"],
  ["fish", "fishmonger, fish shop, butcher, 생선 가게, 횟집, 정육점, 어물전, 생선가게"],
  ["clocks", "watchmaker, clock shop, clockshop, watch workshop, jeweller, 시계방, 금은방, 시계 가게"],
  ["books", "bookshop, bookstore, book shop, 책방, 서점, 헌책방"],
  ["shop", "shop, store, boutique, grocer, grocery, general store, florist, tailor, barber, supermarket, stationer, 가게, 상점, 마트, 슈퍼, 편의점, 꽃집, 미용실, 이발소, 문방구, 옷가게, 철물점, 방앗간, 반찬가게"],
  ["clinic", "clinic, pharmacy, hospital, infirmary, doctor, surgery, apothecary, ward, 약국, 병원, 의원, 한의원, 보건소"],
  ["smithy", "smithy, forge, blacksmith, 대장간"],
  ["workshop", "workshop, garage, factory, mill, repair shop, atelier workshop, boatyard, 공방, 작업실, 작업장, 수리점, 공장, 정비소, 차고, 철공소"],
  ["arcade", "arcade, game room, gaming, 오락실, 게임방, pc방"],
  ["bath", "bath, baths, bathhouse, sauna, spa, bathroom, washroom, laundry, 목욕탕, 약수탕, 사우나, 온천, 욕실, 화장실, 찜질방, 빨래방, 탕"],
  ["shrine", "shrine, temple, sanctuary, 사당, 절, 신당, 법당, 암자"],
  ["church", "church, chapel, cathedral, 교회, 성당"],
  ["library", "library, archive, reading room, 도서관, 서재, 자료실"],
  ["school", "school, classroom, college, academy, university, kindergarten, lecture, 학교, 교실, 학원, 서당, 유치원, 대학"],
  ["office", "office, town hall, city hall, post office, bank, police, station house, headquarters, agency, newsroom, meeting room, 사무실, 회의실, 관공서, 우체국, 은행, 파출소, 면사무소, 동사무소, 주민센터, 상인회"],
  ["hall", "hall, community centre, community center, great hall, ballroom, museum, gallery, lobby, foyer, dining hall, club, 회관, 강당, 마을회관, 경로당, 박물관, 미술관, 연회장, 거실, 로비"],
  ["stage", "theatre, theater, cinema, stage, auditorium, 극장, 무대, 영화관, 공연장"],
  ["shed", "shed, storage, storeroom, warehouse, cellar, basement, tool house, greenhouse, 창고, 헛간, 광, 지하실, 온실"],
  ["barn", "barn, stable, stables, henhouse, farmhouse, 외양간, 마구간, 축사, 농가"],
  ["studio", "studio, atelier, 화실, 아틀리에, 스튜디오"],
  ["radio", "radio shack, radio station, broadcasting, radio, 방송국, 방송실"],
  ["boat", "boat, houseboat, ship, barge, ferry, heron boat, yacht, submarine, 배, 나룻배, 유람선"],
  ["lab", "lab, laboratory, observatory, server room, control room, engine room, bridge deck, 연구소, 실험실, 천문대, 제어실, 연구실"],
  ["inn", "inn, hotel, guesthouse, hostel, motel, lodge, 여관, 여인숙, 주막, 호텔, 민박, 게스트하우스"],
  ["music", "music room, rehearsal, band room, music, concert, 음악실, 연습실"],
  ["study", "study, den study, 서재, 공부방"],
  ["tower", "tower, lighthouse, belfry, windmill, 탑, 등대, 망루, 풍차"],
];

// biome-ignore format: a table
const GROUNDS: Words<GroundKind> = [
  ["plaza", "plaza, square, village green, piazza, forecourt, courtyard, centre, center, 광장, 마당, 뜰, 뜨락, 로터리"],
  ["garden", "garden, orchard, allotment, greenhouse garden, flower garden, 정원, 텃밭, 화원, 과수원, 꽃밭"],
  ["canal", "canal, canal walk, river walk, canal path, towpath, riverwalk, river, stream, creek, brook, waterside, riverside, riverbank, embankment, 강, 강가, 강변, 개울, 냇가, 개천, 운하, 하천, 천변"],
  ["lake", "lake, pond, reservoir, spring, pool, 호수, 연못, 못, 저수지, 호숫가, 샘터, 약수터, 우물가"],
  ["harbour", "harbour, harbour walk, pier walk, harbor, port, pier, dock, quay, wharf, jetty, marina, 항구, 부두, 선착장, 포구, 나루, 나루터"],
  ["beach", "beach, shore, coast, seaside, sea, bay, 해변, 바닷가, 바다, 백사장, 해안"],
  ["market", "market, bazaar, market row, market street, market lane, market alley, 시장, 장터, 저자"],
  ["street", "street, alley, lane, road, avenue, row, path, crossroads, bridge, walk, way, stairs, passage, bus stop, station, platform, parking, 골목, 뒷골목, 길, 거리, 도로, 사거리, 다리, 계단, 정류장, 역, 골목길"],
  ["park", "park, park path, park walk, green, common, lawn, grove, 공원, 잔디밭, 잔디"],
  ["forest", "forest, wood, woods, jungle, thicket, 숲, 대숲, 수풀, 숲길"],
  ["hill", "hill, mountain, hilltop, cliff, peak, ridge, lookout, 언덕, 산, 동산, 뒷산, 고개, 절벽, 전망대"],
  ["shrine", "shrine, temple, stone circle, churchyard, 사당, 절, 신사, 서낭당, 제단"],
  ["field", "field, farm, paddy, pasture, meadow farm, vineyard, ranch, 밭, 논, 들판, 농장, 목장, 들"],
  ["yard", "yard, backyard, patio, terrace, rooftop, roof, balcony, porch, veranda, deck, 뒷마당, 앞마당, 옥상, 테라스, 베란다, 안마당, 마루, 뒤뜰, 뒷뜰"],
  ["graveyard", "graveyard, cemetery, 묘지, 공동묘지"],
  ["playground", "playground, play area, sports field, stadium, court, 놀이터, 운동장, 체육공원"],
  ["gate", "town, village, city, gate, island, valley, county, district, world, neighbourhood, neighborhood, quarter, 마을, 동네, 도시, 읍, 섬, 세계, 입구"],
];

/** What one does where: the first of these that a place has is used. English words are beginnings (`cook` in `cooking`). */
// biome-ignore format: a table
const DOINGS: readonly (readonly [readonly Sprite[], string])[] = [
  [["stove", "hearth", "counter"], "cook, bak, fry, stir, boil, simmer, roast, broth, soup, 요리, 굽, 끓, 찌, 볶, 국물, 반죽"],
  [["counter", "table"], "serv, sell, till, customer, wip, 손님, 팔, 계산, 닦"],
  [["basin", "tub"], "wash, rins, scrub, dishes, teeth, shav, 씻, 설거지, 세수, 양치, 빨"],
  [["desk", "table"], "writ, letter, account, bookkeep, sketch, draw, study, homework, typ, 쓰, 편지, 장부, 공부, 그리, 숙제, 일기"],
  [["bookshelf", "sofa", "desk"], "read, book, verse, poem, shelv, 읽, 책, 시집"],
  [["table", "roundtable", "counter"], "eat, breakfast, lunch, dinner, supper, drink, tea, coffee, noodle, meal, 먹, 아침, 점심, 저녁, 마시, 차 한, 식사, 밥"],
  [["workbench", "anvil", "loom", "desk"], "mend, repair, tinker, solder, build, fix, sharpen, watch, gear, 고치, 수리, 만들, 조립, 손질"],
  [["piano", "guitar", "violin", "drum"], "practis, practic, play a tune, music, sing, 연주, 노래, 연습"],
  [["easel"], "paint, canvas, 그림"],
  [["wardrobe", "drawers", "mirror"], "dress, coat, comb, 옷, 갈아입, 머리"],
  [["vegetables", "flowers"], "weed, water the, plant, dig, prun, harvest, garden, 심, 물 주, 김매, 가꾸, 수확"],
  [["sofa", "bench", "chair"], "rest, sit, doz, relax, nap, wait, watching, 쉬, 앉, 졸, 구경"],
  [["altar"], "pray, offer, bow, 기도, 절하"],
];

/** Where somebody may do what they do, by the words for it: sprites, the fittest first. */
export function placesFor(action: string): readonly Sprite[] {
  const words = ` ${lower(action)}`;
  return DOINGS.filter(([, list]) =>
    list.split(", ").some((word) => words.includes(/[가-힣]/.test(word) ? word : ` ${word}`)),
  ).flatMap(([sprites]) => sprites);
}

/** Kinds that say little: the name tells more. */
// biome-ignore format: a table
const VAGUE = new Set(["seat", "object", "thing", "item", "furniture", "electric light", "light", "board", "machine", "prop", "decor", "tool", "box", "물건"]);

const lower = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[-_.’']+/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();

/** The words of a table, with how to look for them. */
interface Entry<T> {
  readonly word: string;
  readonly means: T;
  readonly korean: boolean;
}

function table<T extends string>(words: Words<T>): readonly Entry<T>[] {
  return words.flatMap(([means, list]) =>
    list.split(", ").map((word) => ({ word, means, korean: /[가-힣]/.test(word) })),
  );
}

const SPRITE_TABLE = table(SPRITES);
const ROOM_TABLE = table(ROOMS);
const GROUND_TABLE = table(GROUNDS);

const isLetter = (c: string | undefined): boolean => c !== undefined && /[\p{L}\d]/u.test(c);

/**
 * The meaning of a text's head: the word that ends last before `of`, `under`, `with` … (`bench under the linden tree` is a
 * bench), and of two that end at one place the longer (`vegetable bed` is no bed). Undefined if no word is known.
 */
function meaning<T>(text: string, entries: readonly Entry<T>[]): T | undefined {
  const head = text.split(/ (?:of|under|with|in|by|on|for|at|from|behind|beside|near) /)[0] ?? text;
  let best: { end: number; length: number; means: T } | undefined;
  for (const { word, means, korean } of entries) {
    const start = head.lastIndexOf(word);
    if (start < 0) continue;
    let end = start + word.length;
    if (!korean) {
      if (isLetter(head[start - 1])) continue;
      if (head[end] === "s" && !isLetter(head[end + 1])) end++;
      else if (head.startsWith("es", end) && !isLetter(head[end + 2])) end += 2;
      if (isLetter(head[end])) continue;
    } else if (word.length === 1 && (isLetter(head[start - 1]) ? head.length - end > 0 : isLetter(head[end]))) {
      continue;
    }
    if (!best || end > best.end || (end === best.end && word.length > best.length)) {
      best = { end, length: word.length, means };
    }
  }
  return best?.means;
}

/** A possessive in front names an owner, not a thing: `Mira's Kitchen` is a kitchen, `Bruno's Den` a den. */
function looked<T>(texts: readonly string[], entries: readonly Entry<T>[]): T | undefined {
  for (const text of texts) {
    const found = meaning(lower(text), entries);
    if (found !== undefined) return found;
  }
  return undefined;
}

const known = new Map<string, Sprite>();

export function spriteOf(thing: { readonly kind: string; readonly name: string; readonly id: string }): Sprite {
  const kind = lower(thing.kind);
  const texts = VAGUE.has(kind) ? [thing.name, thing.id, thing.kind] : [thing.kind, thing.name, thing.id];
  // A thousand beds are looked up once.
  const key = texts.slice(0, 2).join("|");
  let sprite = known.get(key);
  if (!sprite) known.set(key, (sprite = looked(texts, SPRITE_TABLE) ?? "thing"));
  return sprite;
}

export function roomKindOf(area: { readonly name: string; readonly id: string }): RoomKind | undefined {
  return looked([area.name, area.id], ROOM_TABLE);
}

export function groundKindOf(area: { readonly name: string; readonly id: string }): GroundKind | undefined {
  return looked([area.name, area.id], GROUND_TABLE);
}

/** How a sprite lies and its footprint in tiles, where it is not one solid tile. */
const SHAPES: Partial<Record<Sprite, readonly [Lies, number, number]>> = {
  bed: ["floor", 1, 2],
  counter: ["floor", 3, 1],
  table: ["floor", 2, 1],
  desk: ["floor", 2, 1],
  chair: ["seat", 1, 1],
  stool: ["seat", 1, 1],
  sofa: ["floor", 2, 1],
  bookshelf: ["floor", 2, 1],
  shelf: ["floor", 2, 1],
  workbench: ["floor", 2, 1],
  stove: ["floor", 1, 1],
  hearth: ["floor", 2, 1],
  piano: ["floor", 2, 1],
  console: ["floor", 2, 1],
  tub: ["floor", 3, 2],
  stage: ["floor", 4, 2],
  stall: ["floor", 3, 1],
  fountain: ["floor", 3, 2],
  well: ["floor", 2, 1],
  bench: ["floor", 2, 1],
  statue: ["floor", 1, 1],
  towerclock: ["floor", 2, 1],
  pavilion: ["floor", 3, 2],
  boat: ["floor", 3, 1],
  torii: ["floor", 3, 1],
  altar: ["floor", 2, 1],
  cart: ["floor", 2, 1],
  vegetables: ["floor", 3, 1],
  flowers: ["floor", 1, 1],
  tank: ["floor", 2, 1],
  hay: ["floor", 2, 1],
  swing: ["floor", 3, 1],
  slide: ["floor", 2, 2],
  washline: ["floor", 3, 1],
  tent: ["floor", 2, 2],
  engine: ["floor", 2, 1],
  loom: ["floor", 2, 1],
  bridge: ["rug", 2, 1],
  rug: ["rug", 3, 2],
  board: ["floor", 2, 1],
  awning: ["floor", 3, 1],
  lights: ["wall", 2, 1],
  sign: ["wall", 1, 1],
  clock: ["wall", 1, 1],
  window: ["wall", 1, 1],
  shutters: ["wall", 2, 1],
  picture: ["wall", 1, 1],
  mirror: ["wall", 1, 1],
  barometer: ["wall", 1, 1],
  curtain: ["wall", 2, 1],
  flag: ["wall", 1, 1],
  door: ["wall", 1, 1],
  radio: ["top", 1, 1],
  book: ["top", 1, 1],
  paper: ["top", 1, 1],
  cup: ["top", 1, 1],
  bottle: ["top", 1, 1],
  kettle: ["top", 1, 1],
  pot: ["top", 1, 1],
  steamer: ["top", 1, 1],
  coffee: ["top", 1, 1],
  samovar: ["top", 1, 1],
  bowl: ["top", 1, 1],
  tray: ["top", 1, 1],
  food: ["top", 1, 1],
  typewriter: ["top", 1, 1],
  phone: ["top", 1, 1],
  camera: ["top", 1, 1],
  compass: ["top", 1, 1],
  toy: ["top", 1, 1],
  key: ["top", 1, 1],
  lantern: ["top", 1, 1],
  microphone: ["top", 1, 1],
  globe: ["top", 1, 1],
};

/** Under the open sky there are no walls to hang on, and the ground is the table. */
export function shapeOf(
  sprite: Sprite,
  outdoor: boolean,
): { readonly lies: Lies; readonly w: number; readonly h: number } {
  const [lies, w, h] = SHAPES[sprite] ?? (["floor", 1, 1] as const);
  if (outdoor && (lies === "wall" || lies === "top")) return { lies: "floor", w, h };
  return { lies, w, h };
}

/** What other things are put on. */
// biome-ignore format: a table
export const SURFACES: ReadonlySet<Sprite> = new Set<Sprite>([
  "table", "roundtable", "desk", "counter", "drawers", "workbench", "chest", "cupboard", "altar", "stall", "crate", "box", "stove",
]);
