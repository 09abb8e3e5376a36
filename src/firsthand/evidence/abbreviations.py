"""Words that are written with a full stop inside a sentence, and words that begin one, by language.

Written from general knowledge of each language's usage, not taken from a list. A word stands without its last full stop,
in lower case, but for what only upper case makes an
abbreviation ("M." of monsieur). Four kinds, by what may follow:

- ``inside``: a sentence never ends here if anything follows ("Dr. Smith", "e.g. this").
- ``numbered``: not before a number, otherwise it does ("No. 5", but "He said no. Then he left.").
- ``open``: it may end one ("in the U.S. The next year ..."), and does when a word follows that begins sentences.
- ``last``: it ends one when upper case follows ("etc.").

What is not listed but looks like an abbreviation (an initial, "z.B", "Ph.D") counts as open.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """How one language uses the full stop."""

    inside: frozenset[str]
    numbered: frozenset[str]
    open: frozenset[str]
    last: frozenset[str]
    starters: frozenset[str]
    has_ordinals: bool  # a number with a full stop is "the third"


_Words = tuple[str, str, str, str, str]  # inside, numbered, open, last, starters

# English abbreviations stand in texts of every language, above all in documentation.
_EVERYWHERE: _Words = (
    "e.g i.e cf vs viz approx dr mr mrs prof messrs mme mlle p.ex z.b d.h",
    "no nos nr n° nº fig figs eq eqs p pp pg vol vols ch chap sec sect art ver",
    "al inc ltd corp co jr sr ed eds dept univ est ca resp incl excl max min tel jan feb mar apr jun jul aug sep"
    " sept oct nov dec ph.d u.s u.k ms st",
    "etc",
    "",
)
_BY_LANGUAGE: dict[str, _Words] = {
    "en": (
        "eg ie gen maj capt lt sgt cpl cmdr adm rev hon gov sen rep pres supt insp esp",
        "nos app par para pop ex art op bk pt lines",
        "ave blvd rd hwy bros assn assoc misc avg cont min hrs mon tue tues wed thu thurs fri sq mi lb lbs oz yd ibid"
        " op cit a.m p.m am pm b.c a.d llc plc gmbh d.c ext col ft mt fr def",
        "",
        "the a an this that these those it he she we they i you there here in on at for from with by as if when while"
        " but and or so however then thus therefore its his her their our my your no not yes what who why how where which to"
        " after before since because although though all some many most each both one another such other until unless once"
        " during despite according finally also instead meanwhile today now later see please use let do did does is are was were can could will would should have has had must may might",
    ),
    "de": (
        "z.b d.h u.a o.ä z.t u.u i.d.r v.a s.o s.u m.e i.a d.i bzw vgl evtl ggf sog bspw hr fr frl hrn str hl dipl.-ing"
        " insb zzgl zw geb gest dipl ing mag nachf kgl kath evang gegr sen med phil jur rer nat habil",
        "nr nrn bd bde abs abschn art kap s aufl ziff anm abb tab taf fn rn rdnr jg lfd ps",
        " etc inkl exkl abk allg amtl bes betr d.j d.m dgl ders ebd einschl entspr ff hrsg jh jhd jhs jr"
        " mio mrd mwst tsd verf vorm nachm wg std min sek tägl mtl jährl mind min max",
        "usw u.dgl n.chr v.chr",
        "der die das ein eine einen einem es er sie wir ihr ich man dies diese dieser dieses dem den des in im am an auf"
        " mit für von vom zu zum zur bei nach seit wenn als ob weil da damit dann doch aber und oder auch so nur nicht"
        " hier dort wer was wie wo warum welche sein seine ihre ihren unser heute nun jetzt später danach dabei dazu"
        " deshalb daher trotzdem jedoch außerdem zudem alle viele einige jeder jede kein keine durch unter über vor"
        " bis während obwohl sobald falls erst bereits schon insgesamt",
    ),
    "fr": (
        "M mm mme mmes mlle mlles me mgr dr drs pr ste st p.ex c.-à-d cf env av apr j.-c bd boul éd ét",
        "n no nos art chap fig p pp t vol al. éq réf tabl ann",
        "etc hab ibid id op cit suiv sq janv févr avr juil sept oct nov déc tél adj adv min max s.a",
        "",
        "le la les l un une des ce cet cette ces c il elle ils elles on nous vous je j tu en dans sur à au aux pour par"
        " avec sans sous mais et ou donc or car si quand lorsque comme puis alors ainsi ensuite après avant depuis"
        " pendant selon son sa ses leur leurs notre nos votre mon ma qui que quoi où pourquoi comment quel quelle tout"
        " tous toutes aucun chaque plusieurs certains ici là voici d",
    ),
    "es": (
        "sr sra srta sres sras dr dra dres prof profa d dña lic ing arq gral cnel tte ud uds vd vds sto sta fr mons"
        " p.ej por.ej ej cf cfr av avda excmo ilmo",
        "núm núms pág págs art arts cap caps fig figs vol vols tomo n nº apdo",
        "etc ee.uu ee uu s.a s.l cía hnos ed eds aprox máx mín tel telf dcha izq admón dpto ene feb mar abr jun"
        " jul ago sept oct nov dic a.m p.m",
        "a.c d.c",
        "el la los las un una unos unas lo este esta estos estas ese esa eso esto él ella ellos ellas yo tú nosotros en"
        " de del a al por para con sin sobre desde hasta según pero y o si cuando como donde aunque porque pues así"
        " entonces después antes luego también además su sus mi tu nuestro no sí qué quién cómo cuándo dónde todo todos"
        " muchos algunos cada otro otra se hay es era fue aquí allí hoy ahora más durante mientras",
    ),
    "it": (
        "sig sigg sig.ra sig.na dott dott.ssa dr prof prof.ssa ing avv arch geom rag on mons gen col cap ten cav comm"
        " s.e p.es p.e es cfr cf ss dei",
        "n nn pag pagg p pp art artt fig figg cap vol voll tab sez",
        " etc s.p.a s.r.l s.a.s tel ed eds gen feb mar apr mag giu lug ago set sett ott nov dic min max ca",
        "ecc a.c d.c",
        "il lo la i gli le l un uno una questo questa questi queste quello quella egli ella essi lui lei loro io noi voi"
        " in nel nella di del della da dal dalla a al alla con su sul sulla per tra fra ma e o se quando come dove"
        " perché poi così quindi dopo prima anche inoltre suo sua suoi sue non sì chi che cosa qual tutti molti alcuni"
        " ogni altro è era sono qui oggi ora durante mentre secondo",
    ),
    "pt": (
        "sr sra srs sras srta dr dra drs prof profa eng arq exmo exma ilmo gen cel cap ten pe d dom p.ex ex cf v.ex"
        " v.exa",
        "n nº núm pág págs p pp art arts cap caps fig figs vol vols séc",
        "etc s.a ltda cia ed eds tel av r aprox máx mín jan fev mar abr mai jun jul ago set out nov dez a.m p.m",
        "a.c d.c",
        "o a os as um uma uns umas este esta estes estas esse essa isso isto ele ela eles elas eu nós você em no na nos"
        " nas de do da dos das ao à por pelo pela para com sem sobre desde até segundo mas e ou se quando como onde"
        " embora porque pois assim então depois antes também além seu sua seus suas meu não sim que quem qual todos"
        " muitos alguns cada outro há é era foi aqui hoje agora durante enquanto",
    ),
    "nl": (
        "dhr mevr mej mw mr drs ir ing dr prof ds bijv b.v bv d.w.z m.a.w o.a m.n t.o.v t.a.v m.b.t i.v.m n.a.v a.d.h"
        " i.p.v t.g.v vgl zgn nl resp ca v.d st",
        "nr nrs blz p art afb fig hfdst par bd dl",
        " etc jr sr ed red n.v incl excl max min tel jl a.s evt plm ong afd mln mld jan feb mrt apr jun"
        " jul aug sept okt nov dec a.u.b",
        "enz v.chr n.chr",
        "de het een dit dat deze die er hij zij ze wij we ik je jij u jullie in op aan bij met voor van naar om uit over"
        " door als toen wanneer terwijl maar en of dus want omdat hoewel ook dan daarna daarom zijn haar hun ons mijn"
        " niet ja nee wat wie hoe waar waarom alle veel sommige elke hier daar nu vandaag later volgens tijdens sinds",
    ),
    "ru": (
        "т.е т.к т.н т.о т.ч гр им проф акад доц д-р г-н г-жа ул пл пр просп пер наб бул пос дер обл р-н св"
        " ген полк кап лейт напр см ср англ нем фр лат греч рус итал исп род ок прим",
        "рис табл стр с гл п пп ст т тт вып изд № ч д кв корп оф",
        " др пр г гг в вв руб коп тыс млн млрд трлн мин сек час чел экз янв февр апр авг сент окт нояб дек"
        " км м см кг долл тел",
        "т.д т.п",
        "в во на с со к ко по из от до за для при о об у и а но или да же он она оно они мы вы я это этот эта эти тот та"
        " те так как когда если что кто где почему чтобы потом затем после перед также ещё еще уже не нет его её ее их"
        " наш свой все всё каждый многие некоторые однако поэтому здесь там сегодня теперь во-первых под над между",
    ),
    "uk": (
        "т.зв т.ч ім проф акад доц вул пл просп пров бул смт обл св ген полк напр див пор англ нім лат гр бл р-н п",
        "рис табл стор с гл ст т тт вип вид № ч буд кв корп оф",
        " ін др р рр грн коп тис млн млрд хв сек год чол екз січ лют бер квіт трав черв лип серп вер"
        " жовт лист груд км м кг тел м",
        "т.д т.п т.ін",
        "в у на з із зі до від за для при про о об і й а але або та та він вона воно вони ми ви я це цей ця ці той так як"
        " коли якщо що хто де чому щоб потім після перед також ще вже не ні його її їх наш свій усі все кожен багато"
        " деякі однак тому тут там сьогодні тепер під над між",
    ),
    "pl": (
        "np tzn tj m.in tzw prof dr hab mgr inż lek ks św o ul al pl os gen płk kpt por zob ob ps im red wyd pw"
        " godz ok jw bł bp abp",
        "nr s str t rozdz rys tab art ust pkt poz rozp dz",
        " w ww zł gr tys mln mld in br ub wg tel woj pow gm min sek mies kpt sp z.o.o",
        "itd itp",
        "w we na z ze do od dla po za przy przed pod nad o u i a ale lub albo oraz on ona ono oni one my wy ja to ten ta"
        " te tak jak kiedy gdy jeśli jeżeli że co kto gdzie dlaczego aby żeby potem następnie także również jeszcze już"
        " nie jego jej ich nasz swój wszystkie każdy wiele niektóre jednak dlatego tutaj tam dziś dzisiaj teraz",
    ),
    "tr": (
        "dr doç prof yrd öğr gör av uzm op sn hz alb gen yzb tğm müh mim örn bkz krş çev haz cad sok mah bul apt",
        "no nu s sf md böl şek tab c cilt",
        " yy m.ö m.s t.c a.ş ltd şti tel dk sn sa",
        "vb vs vd",
        "bu şu o bir ben sen biz siz onlar ama fakat ancak ve ya eğer çünkü sonra önce daha en çok her bazı tüm bütün"
        " burada orada şimdi bugün dün nasıl neden niçin ne kim nerede ayrıca bunun buna bunu onun ona onu için böylece",
    ),
    "sv": (
        "t.ex bl.a dvs d.v.s s.k jfr f.d fr.o.m t.o.m resp ang dr prof st kl ca",
        "nr s sid kap fig bd §",
        " m.m m.fl etc inkl exkl milj mdr kr tel ",
        "osv o.s.v e.kr f.kr",
        "den det de en ett detta denna dessa han hon vi ni jag du man i på av för med till från vid om när men och eller"
        " så eftersom dock också inte vad vem hur var varför alla många här där nu idag sedan efter under enligt",
    ),
    "da": (
        "f.eks bl.a dvs d.v.s jf ca fx hhv iht pga ifm dr prof skt kl vedr s.k",
        "nr s sd kap fig bd stk §",
        " m.m m.fl etc mv mio mia inkl ekskl kr tlf ",
        "osv o.s.v e.kr f.kr",
        "den det de en et dette denne disse han hun vi i jeg du man på af for med til fra ved om når men og eller så"
        " fordi dog også ikke hvad hvem hvordan hvor hvorfor alle mange her der nu idag siden efter under ifølge",
    ),
    "nb": (
        "f.eks bl.a dvs d.v.s jf ca hhv iht pga ifm dr prof st kl vedr",
        "nr s kap fig bd §",
        " m.m m.fl etc mv mill mrd inkl ekskl kr tlf ",
        "osv o.s.v e.kr f.kr",
        "den det de en et dette denne disse han hun vi dere jeg du man i på av for med til fra ved om når men og eller så"
        " fordi også ikke hva hvem hvordan hvor hvorfor alle mange her der nå siden etter under ifølge",
    ),
    "fi": (
        "esim ks mm ns tri prof toim vrt klo",
        "nro s sivu kuva luku os",
        " yms jms eaa jaa eKr jKr milj mrd puh n",
        "jne ym ekr jkr",
        "se ne hän he me te minä sinä tämä nämä tuo mutta ja tai jos kun koska vaikka sitten myös ei mitä kuka miten"
        " missä miksi kaikki monet täällä siellä nyt tänään vuonna",
    ),
    "cs": (
        "např tzv tj tzn mj popř resp viz ing mgr bc judr mudr rndr phdr doc prof dr sv hl ul nám tř st cca",
        "č čl str s obr tab kap sv odst §",
        " aj r s.r.o a.s mil tis kč hod min tel stol",
        "apod atd n.l př.n.l",
        "v ve na z ze do od pro po za při před pod nad o u i a ale nebo on ona ono oni my vy já to ten ta tyto tak jak"
        " když pokud že co kdo kde proč aby potom také ještě už ne jeho její jejich všechny každý mnoho však proto zde"
        " tam dnes nyní",
    ),
    "hu": (
        "pl ún ill dr id ifj özv prof vö kb szt",
        "sz old o u ábra",
        " kft rt zrt bt ft jan febr márc ápr máj jún júl aug szept okt nov dec",
        "stb i.e i.sz",
        "a az egy ez ezek azok ő ők mi ti én te és de vagy ha amikor mert bár majd is nem mit ki hogyan hol miért minden"
        " sok itt ott most ma",
    ),
    "el": (
        "δηλ βλ κ κα κος δρ καθ αγ",
        "αρ σελ εικ κεφ αρθ",
        " κ.ά τηλ εκ δισ",
        "κ.λπ κτλ κλπ μ.χ",
        "ο η το οι τα ένας μία ένα αυτός αυτή αυτό αυτά σε στο στη στην με για από και αλλά ή αν όταν όπως επειδή μετά"
        " πριν επίσης δεν τι ποιος πώς πού γιατί όλα πολλοί εδώ εκεί τώρα σήμερα",
    ),
    "bg": (
        "т.е т.нар напр вж ср проф доц акад инж д-р ул бул пл им св гр с",
        "фиг табл стр гл чл ал т №",
        "т.н др г гг в вв лв хил млн млрд мин тел",
        "",
        "в във на с със от до за при по и а но или той тя то те ние вие аз това този тази тези така как когато ако че"
        " какво кой къде защо след преди също още не всички много обаче тук там днес сега",
    ),
    "ro": (
        "dl d-l dna d-na dr prof ing av sf str bd ex cf",
        "nr pag p art alin fig cap vol",
        "etc mil mld lei tel",
        "ș.a ş.a î.hr d.hr",
        "un o acest această aceste el ea ei ele noi voi eu în la pe cu de din pentru și dar sau dacă când cum după nu ce"
        " cine unde toate mulți aici acum astăzi",
    ),
    "id": (
        "dr prof ir hj h drs tn ny sdr yth jl a.n d.a",
        "no hlm hal gbr tab",
        " tel rp",
        "dll dsb dst dkk",
        "ini itu dia ia mereka kami kita saya anda pada di dari dengan untuk dan tetapi atau jika ketika karena setelah"
        " tidak apa siapa bagaimana semua banyak sekarang",
    ),
    "hi": (
        "डॉ श्री प्रो कु मि सुश्री स्व पं ई.पू इं",
        "नं सं पृ क्र रु",
        " कि.मी किमी सेमी कि.ग्रा मी ई",
        "आदि",
        "",
    ),
}
_RELATED = {"no": "nb", "nn": "nb", "sk": "cs", "be": "ru", "kk": "ru", "ky": "ru", "sr": "bg", "mk": "bg"}
_RELATED |= {"ca": "es", "gl": "pt", "af": "nl", "mr": "hi", "ne": "hi", "ms": "id", "az": "tr", "et": "fi"}


def _words(said: str) -> frozenset[str]:
    return frozenset(said.split())


_ORDINALS_WITH_DOT = _words("de da no nb nn fi is et cs sk pl hu hr sl sr bs lv lt tr az fo")


def _usage(language: str) -> Usage:
    own = _BY_LANGUAGE.get(_RELATED.get(language, language), ("",) * 5)
    inside, numbered, may_end, last, starters = (_words(f"{a} {b}") for a, b in zip(_EVERYWHERE, own, strict=True))
    inside -= _words(f"{own[2]} {own[3]}")  # a language's own use of a word counts more
    return Usage(inside, numbered, may_end, last, starters, language in _ORDINALS_WITH_DOT)


_USAGES: dict[str, Usage] = {}


def usage_of(language: str | None) -> Usage:
    """How *language* (two letters) uses the full stop; as English does where it is not known."""
    code = language or "en"
    found = _USAGES.get(code)
    if found is None:
        found = _usage(code if code in _BY_LANGUAGE or code in _RELATED or code in _ORDINALS_WITH_DOT else "en")
        if len(_USAGES) < 200:  # a page may declare any language
            _USAGES[code] = found
    return found
