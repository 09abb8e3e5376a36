"""What tells languages apart, and the words in them that carry no subject: scripts, stop words, stemmer names.

The stop-word lists are closed-class words (articles, prepositions, pronouns, auxiliaries, question words) written
out by hand; a word that could name a subject is not on them.
"""

from __future__ import annotations

import re
from collections import Counter

# Two-letter language -> Snowball algorithm (PyStemmer 3.1). Languages without one are indexed unstemmed.
STEMMERS = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}
# Languages whose own script is not Latin: Latin words on their pages are mostly English and are stemmed as English.
NOT_LATIN = frozenset(["ar", "bg", "el", "fa", "he", "hi", "hy", "ja", "ko", "ne", "ru", "ta", "th", "uk", "yi", "zh"])

STOP_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": """a about above after again against all also am an and any are aren't arent as at be because been before
            being below between both but by can cannot can't cant could couldn't did didn't do does doesn't doesnt doing
            don't dont down during each either for from further had has have haven't having he her here hers him his how
            i if i'm in into is isn't isnt it it's its itself just let's may me might more most much must my neither no
            nor not of off on once only or other our ours out over own per same shall she should shouldn't so some such
            than that that's the their theirs them then there these they this those through to too under until up upon
            us very was wasn't we were weren't what what's when where whether which while who whom whose why will with
            within without won't would wouldn't you your yours""",
        "de": """aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist da
            damit dann das dass dein deine dem den denn der deren des dessen die dies diese diesem diesen dieser dieses
            dir doch dort du durch ein eine einem einen einer eines er es etwas euch euer für gegen hat hatte hatten
            hier ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jedes jene kann
            kein keine keinem keinen keiner können könnte man mein meine mich mir mit muss müssen nach nicht nichts noch
            nun nur ob oder ohne sehr sein seine seinem seinen seiner selbst sich sie sind so sollte sondern sonst über
            um und uns unser unter viel vom von vor wann war waren warum was weil welche welchem welchen welcher welches
            wenn wer werden wie wieder wieviel wir wird wo wofür womit wurde wurden zu zum zur zwar zwischen""",
        "fr": """à au aux avec c ça car ce cela ces cet cette ceux chaque ci comme comment d dans de des dont donc du elle
            elles en entre es est et était été être eu eux fait il ils j je jusqu l la le les leur leurs lors lorsque lui
            m ma mais me même mes moi mon n ne ni nos notre nous on ont ou où par pas peut peuvent plus pour pourquoi
            puis puisque qu quand que quel quelle quelles quels qui quoi s sa sans se sera ses si soi son sont sous sur
            ta te tes toi ton tous tout toute toutes très tu un une va vos votre vous y""",
        "es": """a al algo algún alguna algunas algunos ante antes aquel aquella como cómo con contra cuál cuáles cualquier
            cuando cuándo cuánta cuántas cuánto cuántos de del desde donde dónde dos el él ella ellas ellos en entre era
            es esa esas ese eso esos esta está están estas este esto estos fue ha hace han hasta hay la las le les lo los
            más me mi mis mucho muy nada ni no nos nosotros o otra otras otro otros para pero por porque puede pueden qué
            que quien quién se sea según ser si sí sido sin sobre son su sus también tanto te tiene todo todos tras tu un
            una unas uno unos ya y yo""",
        "it": """a ad agli ai al alla alle allo anche c che chi ci cioè come con contro cosa così cui d da dagli dai dal dalla
            dalle degli dei del dell della delle dello di dove due e è ed era essere fa gli ha hanno ho i il in io l la le
            lei li lo loro lui ma mi mia mio ne negli nei nel nell nella nelle nello noi non nostro o ogni per perché però più
            può qual quale quali quando quanta quante quanti quanto quella quelle quelli quello questa queste questi questo
            se sé senza si sia siano sono sta su sua sue sugli sui sul sulla sulle suo suoi tra fra tu tutti tutto un una uno
            vi voi""",
        "pt": """a à ainda ao aos as às até cada com como contra da das de dela dele do dos e é ela elas ele eles em entre era
            essa essas esse esses esta está estão estas este estes eu foi foram há isso isto já la lhe mais mas me mesmo meu
            minha muito na não nas nem no nos nós o onde os ou para pela pelas pelo pelos por porque pode podem qual quais
            quando quanta quantas quanto quantos que quem se sem ser será seu seus só sobre sua suas também tem têm todo
            todos tu um uma umas uns você""",
        "nl": """aan al alle als bij dan dat de deze die dit doen door dus een en er geen had heb hebben heeft het hier hij
            hoe hoeveel hun ik in is ja je kan kunnen maar mag men met mij mijn moet moeten na naar niet niets nog nu of om
            omdat ons ook op over te tegen toch toen tot u uit uw van veel voor waar waarom wanneer want was wat we welke wel
            werd wie wij worden wordt zal ze zei zich zij zijn zo zonder zou""",
        "sv": """alla att av blev bli blir då de dem den denna deras dess dessa det detta dig din du där efter ej eller en
            er ett från för ha hade han hans har henne hon hur i icke inte jag kan man med mellan men mig min mot mycket när
            någon något några nu och om oss på samma sedan sig sin ska skall som så till under upp ut utan vad var vara varför
            varje vem vi vid vilka vilken vilket är över""",
        "da": """af alle alt at blev bliver da de dem den denne der deres det dette dig din dog du efter eller en end er et
            for fra ham han hans har havde hende her hos hun hvad hvem hvis hvor hvordan hvorfor i ikke ind jeg kan man med
            meget men mig min mod mon må ned nogen noget nogle nu når og også om op os over på selv sig sin skal som så til ud
            under var vi vil ville være""",
        "pl": """a aby albo ale ani bardzo bez być będzie było był by byli byly ci co czy dla do dlaczego gdy gdzie go i ich
            ile im inne ja jak jaki jakie jako jest jego jej jeśli już każdy kiedy kto która które który lub ma mi mnie może
            można mu my na nad nas nawet nie nich niego nim niż o od on ona one oni oraz po pod podczas przed przez przy się
            są sobie tak także tam te tego tej ten to tu tych tylko tym u w więc wszystko z za ze że żeby""",
        "tr": """acaba ama ancak artık aslında az bana bazı belki ben beni benim bir biri birkaç biz bize bizim böyle bu buna
            bunda bundan bunlar bunu bunun çok çünkü da daha de defa değil diye en eğer fakat gibi hangi hangisi hem hep
            her hiç için ile ise kaç kadar kendi ki kim kime mı mi mu mü nasıl ne neden nerede nereye niçin niye o olan
            olarak oldu olduğu olur on ona ondan onlar onu onun sana sen siz sonra şey şu şunu tüm var vardır ve veya ya
            yani yok""",
        "ru": """а без более будет будто бы был была были было быть в вам вас ведь весь во вот все всего всех вы где да
            даже для до его ее её если есть еще ещё же за здесь и из или им их к как какая какие какой какое каким когда
            кто куда ли либо между меня мне может можно мой мы на над надо не него нее ней нет ни них но ну о об однако он
            она они оно от очень по под после потом потому почему при про с сам свою себя сейчас сколько со так такой там
            тебя тем то того тоже только том тот ты у уже хотя чего чей чем что чтобы чье чья эта эти это этого этой этом
            этот я""",
        "uk": """а або але б без бути був була були було в вам вас вже від він вона вони все всі де для до з за зі і із й
            їх його її коли крім ми на не ні об по про та так такий те ти то того тому у хто це цей ця чи що щоб як який
            якщо я""",
    }.items()
}
# Words that a one-line question may consist of in scripts without spaces; used to guess, never to drop.

_SCRIPT = {  # compiled when first needed, as in evidence.terms
    "kana": "[\u3041-\u30ff]",
    "han": "[\u3400-\u4dbf\u4e00-\u9fff]",
    "hangul": "[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]",
    "thai": "[\u0e01-\u0e4e]",
    "cyrillic": "[\u0400-\u04ff]",
    "arabic": "[\u0620-\u06d3]",
    "hebrew": "[\u05d0-\u05ea]",
    "greek": "[\u0370-\u03ff]",
    "devanagari": "[\u0904-\u0939]",
    "armenian": "[\u0531-\u0587]",
    "tamil": "[\u0b85-\u0bb9]",
}
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
SAMPLE_CHARS = 6_000  # beginning and middle of a page, each; 3,000 words decide as well as all of them (guess)
CLEARLY = 1.2  # times the stop words of the expected language, and ...
EXPECTED_SHARE = 0.04  # ... this share of all words (chosen on 54 pages: half-translated chapters, indexes of names)
LATIN = ("en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "pl", "tr")
# Letters that only one of our Latin-script languages uses often; each counts as one stop word.
_TELLING = {
    "de": "ßäöü",
    "fr": "çœêèàù",
    "es": "ñ¿¡",
    "pt": "ãõ",
    "tr": "ışğİ",
    "pl": "łąężśćń",
    "sv": "å",
    "da": "øæ",
    "it": "òì",
}


def guess_language(text: str, expected: str | None = None) -> str | None:
    """The language of *text* by script and stop words, two letters; None if nothing tells.

    Another language than the *expected* one must show clearly: lists of names and code hold a few words of any.
    Cost: bounded; a long text is sampled at its beginning and its middle.
    """
    sample = text
    if len(text) > 2 * SAMPLE_CHARS:
        middle = len(text) // 2
        sample = text[:SAMPLE_CHARS] + " " + text[middle : middle + SAMPLE_CHARS]
    n_letters = len(_LETTER.findall(sample))
    if not n_letters:
        return None
    if not sample.isascii():
        by_script = _by_script(sample, n_letters)
        if by_script:
            return by_script
    return _by_stop_words(sample, expected)


def _by_script(sample: str, n_letters: int) -> str | None:
    share = {name: len(re.findall(pattern, sample)) / n_letters for name, pattern in _SCRIPT.items()}
    if share["kana"] > 0.05:
        return "ja"
    if share["hangul"] > 0.1:
        return "ko"
    if share["han"] > 0.1:
        return "zh"
    if share["cyrillic"] > 0.2:
        return "uk" if re.search("[іїєґ]", sample) and not re.search("[ыэё]", sample) else "ru"
    if share["arabic"] > 0.2:
        return "fa" if re.search("[پچژگ]", sample) else "ar"
    for name, language in (
        ("thai", "th"),
        ("hebrew", "he"),
        ("greek", "el"),
        ("devanagari", "hi"),
        ("armenian", "hy"),
        ("tamil", "ta"),
    ):
        if share[name] > 0.2:
            return language
    return None


def _by_stop_words(sample: str, expected: str | None) -> str | None:
    counts = Counter(word.lower().replace("’", "'") for word in _WORD.findall(sample))
    votes: dict[str, float] = dict.fromkeys(LATIN, 0)
    for word, n in counts.items():
        languages = [language for language in LATIN if word in STOP_WORDS[language]]
        for language in languages:
            votes[language] += n / len(languages)
    for language, letters in _TELLING.items():
        votes[language] += sum(1 for char in sample if char in letters)
    if expected in votes:
        votes[expected] = CLEARLY * votes[expected] + EXPECTED_SHARE * counts.total()
    best = max(LATIN, key=lambda language: votes[language])
    return best if votes[best] > 0 else None
