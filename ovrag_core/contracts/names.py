"""Names of people, companies and lenders, invented by combining lists; none is meant to be anybody's."""

from __future__ import annotations

from random import Random

PEOPLE: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "anglo": (
        ("Harriet", "Gordon", "Beatrice", "Wesley", "Imogen", "Clifford", "Marjorie", "Dexter", "Philippa", "Roland", "Georgina", "Lionel", "Tamsin", "Everett", "Verity", "Nathaniel"),
        ("Ashdown", "Pemberton", "Crowhurst", "Thackeray", "Wexford", "Hollins", "Stannard", "Mabry", "Lockridge", "Penhaligon", "Tuttle", "Brackenridge", "Fairweather", "Oakes", "Quimby", "Sedgwick"),
    ),
    "hispanic": (
        ("Ximena", "Álvaro", "Lucía", "Rogelio", "Itzel", "Joaquín", "Pilar", "Ignacio", "Noemí", "Héctor"),
        ("Villaseñor", "Ibarra Peña", "Montoya", "Cárdenas", "Quiñones", "de la Vega", "Zúñiga", "Arriaga", "Sepúlveda", "Núñez Ortiz"),
    ),
    "african": (
        ("Adaeze", "Kwabena", "Thandiwe", "Chinedu", "Wanjiru", "Sipho", "Folasade", "Mamadou", "Zanele", "Kofi"),
        ("Okonkwo", "Mensah", "Dlamini", "Adeyemi", "Kamau", "Nkosi", "Diallo", "Asante", "Mokoena", "Eze"),
    ),
    "east_asian": (
        ("Mei Ling", "Haruto", "Soo-jin", "Wei Jie", "Akiko", "Minh Anh", "Jia Hui", "Dae-jung", "Naomi", "Kenji"),
        ("Tan", "Nakagawa", "Hwang", "Lim", "Nguyễn", "Ong", "Shimizu", "Bae", "Đặng", "Chua"),
    ),
    "south_asian": (
        ("Anjali", "Harpreet", "Rohan", "Meenakshi", "Imran", "Divya", "Arjun", "Farzana", "Vikram", "Lakshmi"),
        ("Deshpande", "Gill", "Krishnamurthy", "Qureshi", "Bhattacharya", "Patil", "Nair", "Chowdhury", "Rathore", "Fernando"),
    ),
    "nordic": (
        ("Solveig", "Åke", "Ingeborg", "Torbjørn", "Linnéa", "Sigurður", "Maarit", "Jørgen", "Astrid", "Eskil"),
        ("Bergström", "Halvorsen", "Ødegård", "Lindqvist", "Sørensen", "Koskinen", "Þórsdóttir", "Nygaard", "Ekelund", "Haugen"),
    ),
    "slavic": (
        ("Zdeněk", "Małgorzata", "Vesna", "Łukasz", "Olena", "Branimir", "Katarzyna", "Jiří", "Milica", "Tomáš"),
        ("Dvořáček", "Wiśniewska", "Kovačević", "Źrebiec", "Petrenko", "Horvatić", "Zielińska", "Hruška", "Đurić", "Šimůnek"),
    ),
    "arabic": (
        ("Layla", "Omar", "Nadia", "Yusuf", "Samira", "Tariq", "Hanan", "Karim", "Rania", "Idris"),
        ("Al-Khatib", "Haddad", "Benyamina", "El Mansouri", "Saleh", "Bouzid", "Nasser", "Al Rahbi", "Farouk", "Ziadeh"),
    ),
    "celtic": (
        ("Aoife", "Ruaridh", "Siobhán", "Fergus", "Niamh", "Calum", "Gráinne", "Eoin", "Catriona", "Seán"),
        ("Ó Flaithearta", "MacAskill", "Ní Bhriain", "Galbraith", "McGettigan", "Drummond", "Kinsella", "Urquhart", "Brennan", "Mac an Ghoill"),
    ),
    "german": (
        ("Annegret", "Jürgen", "Käthe", "Matthias", "Ute", "Björn", "Friederike", "Götz", "Heike", "Leonhard"),
        ("Weißmüller", "Krahforst", "von Ahrens", "Schönfelder", "Büttner", "Oberhuber", "zur Linden", "Großkopf", "Nöth", "Pfleiderer"),
    ),
    "turkish": (
        ("Zeynep", "Çağlar", "Gülşen", "İbrahim", "Şebnem", "Oğuz", "Aslı", "Tolga"),
        ("Yıldırım", "Karadağ", "Öztürkmen", "Güneş", "Çelikkaya", "Ağaoğlu", "Işık", "Taşdemir"),
    ),
    "french": (
        ("Geneviève", "Thibault", "Océane", "Maël", "Noëlle", "Raphaël", "Aurélie", "Anaïs"),
        ("Desrosiers", "L'Écuyer", "Lefèvre", "Beauchêne", "Gagné-Roy", "d'Aubigny", "Thériault", "Maçon"),
    ),
    "italian": (
        ("Ginevra", "Niccolò", "Fiorella", "Ercole", "Donatella", "Ruggero", "Ilaria", "Vincenzo"),
        ("Bellagamba", "Di Stefano", "Tagliaferri", "Mastrangelo", "Lo Presti", "Zanetti", "Castagnoli", "De Nittis"),
    ),
    "greek": (
        ("Eleftheria", "Stavros", "Despina", "Konstantinos", "Zoe", "Panagiotis", "Ioanna", "Leonidas"),
        ("Papadimitriou", "Karagiannis", "Vlachou", "Theodorakis", "Makri", "Samaras", "Galanis", "Zervas"),
    ),
    "dutch": (
        ("Marijke", "Joost", "Femke", "Willem", "Annelies", "Sjoerd", "Hendrika", "Pieter"),
        ("van der Hoeven", "Dijkstra", "ten Brink", "Wagenaar", "de Graaf", "Oosterhuis", "van Niekerk", "Hofmeyr"),
    ),
    "malay": (
        ("Nurul Ain", "Faizal", "Siti Aminah", "Hafiz", "Rosmah", "Zulkifli"),
        ("binte Osman", "bin Rahmat", "binte Yusof", "bin Ismail", "Abdullah", "Marican"),
    ),
}  # fmt: skip
TITLES = ("Dr. ", "Prof. ", "Ms. ", "Mr. ", "Mrs. ", "Dr.-Ing. ", "Sir ", "Rev. ")
SUFFIXES = (" Jr.", " III", ", M.D.", ", Esq.")
MIDDLES = ("A.", "J.", "M.", "K.", "R.", "T.", "E.")

LENDER_STEMS = (
    "Alderbrook", "Bellhaven", "Cinder Valley", "Dunmoor", "Eastlight", "Fallow Ridge", "Greywater", "Hollow Oak", "Ironbridge Vale",
    "Juniper Bay", "Kestrel Point", "Lanternfield", "Millrace", "Northmere", "Orchard Sound", "Pinehurst County", "Quarry Hill",
    "Redfern", "Stonecrop", "Tidewell", "Umberland", "Vantage Harbor", "Westerlea", "Yarrow", "Zephyr Coast", "Blue Heron",
    "Copper Basin", "Ember Lake", "Farmers & Weavers", "Merchants Dock", "Teachers Alliance", "Brambleton", "Saltmarsh",
    "Thornbury Cross", "Wolds", "Caldera", "Silverbirch", "Tamarack", "Osprey", "Highmoor",
)  # fmt: skip
CONTINENTAL_STEMS = (
    "Nordheim", "Waldsee", "Altenried", "Kirchtal", "Rabenstein", "Oberlauf", "Sankt Veit", "Hohenfurt", "Lindau-West", "Ostermark",
    "Moosbach", "Ruhrland", "Heidesee", "Talwiesen", "Steinach", "Brunneck",
)  # fmt: skip
LENDER_PEOPLE = (
    "Cornelius Vane", "Margaret Ellison", "Theodor Brandeis", "Abigail Stroud", "Lucas Merriweather", "Elsa Wallin", "Jonas Petersen",
    "Augusta Finch", "Friedrich Hollstein", "Camille Duret", "Samuel Okafor", "Henrietta Blyth",
)  # fmt: skip

COMPANY_STEMS = (
    "Larchmont", "Harrow & Pike", "Bluefin", "Tessellate", "Copperleaf", "Mistral", "Foxglove", "Sundial", "Ravensworth", "Polder",
    "Granite Peak", "Marigold", "Northlight", "Aquila", "Quillon", "Verbena", "Basalt", "Kingfisher", "Ostrava", "Pemba", "Seaglass",
    "Tangerine", "Whitlock", "Zenobia", "Acorn & Vine", "Borealis", "Cedarway", "Dovetail", "Esker", "Fjordline", "Hazelmere",
    "Inkwell", "Jasper Creek", "Kiln Lane", "Lodestar", "Monsoon", "Nettlefold", "Opaline", "Driftwood", "Peregrine",
)  # fmt: skip
TRADES = (
    "Precision Castings", "Bakeries", "Cold Storage", "Joinery", "Hydraulics", "Textiles", "Optics", "Nurseries", "Logistics",
    "Dental Supply", "Foods", "Packaging", "Brewing", "Printworks", "Veterinary Services", "Roofing", "Instruments", "Dairy",
    "Fisheries", "Software", "Furniture", "Pharmacies", "Machine Tools", "Hospitality", "Recycling", "Ceramics", "Seeds", "Cycles",
)  # fmt: skip
STREET_STEMS = ("Orchard", "Millpond", "Prairie View", "Kingsley", "Foxhollow", "Summerfield")


def person(random: Random, cultures: tuple[str, ...], *, bare: bool = False) -> str:
    """A person's full name, now and then with a middle initial, a title or a suffix unless `bare`."""
    first, last = PEOPLE[random.choice(cultures)]
    name = f"{random.choice(first)} {random.choice(last)}"
    if random.random() < 0.2:
        name = name.replace(" ", f" {random.choice(MIDDLES)} ", 1)
    chance = random.random()
    if bare or chance < 0.8:
        return name
    return random.choice(TITLES) + name if chance < 0.95 else name + random.choice(SUFFIXES)


def company(random: Random, form: str, cultures: tuple[str, ...]) -> str:
    """A company's name with its legal form; one in four bears a person's name."""
    trade = random.choice(TRADES)
    chance = random.random()
    if chance < 0.15:
        stem = f"{random.choice(PEOPLE[random.choice(cultures)][1])} {trade}"
    elif chance < 0.25:
        stem = f"{person(random, cultures, bare=True)} {trade}"
    elif chance < 0.35:
        stem = random.choice(COMPANY_STEMS)
    else:
        stem = f"{random.choice(COMPANY_STEMS)} {trade}"
    return f"{stem} {form}" if not form.startswith("Inc") or random.random() < 0.5 else f"{stem}, {form}"


def lender(random: Random, pattern: str, *, continental: bool) -> str:
    """A lending organisation's name from its pattern."""
    stems = CONTINENTAL_STEMS if continental else LENDER_STEMS
    return pattern.format(stem=random.choice(stems), person=random.choice(LENDER_PEOPLE))
