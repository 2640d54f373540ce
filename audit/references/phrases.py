"""What sentences as a whole are about, by their words: earlier trials, the policy, confirmation, no reason at all."""

from __future__ import annotations

from typing import Final

from audit.references.drafts import compiled
from audit.references.words import Opening, Words, stems

OF_TRIALS: Final = (
    r"trials?|history|(?:earlier|previous|past|prior) (?:polic|attempt|candidate|iteration|parameter|value|vector"
    r"|setting"
    r"|entr|version|result|one|test|experiment|proposal|solution|tries)\w{0,5}|previously|family|proven|known good"
    r"|so far"
)
RECORD: Final = (
    rf"{OF_TRIALS}|lists?|listed|records?|logs?|archive|track record|table of (?:results|scores|means|candidates"
    rf"|trials)|#\d{{1,4}}"
    r"|what (?:was|has been|had been|we have|i have) tried|(?:earlier|previous|past|prior) (?:search|data|runs?"
    r"|ones)|(?:last|previous|best|top|recent)(?: \w{1,8})? candidates|the search (?:already|has|had|so far)"
)
"""Words for where earlier trials are found, in a context of reasons."""
_OF_RECORDS: Final = "arch cand earl fami far* hist know list log* past prev prio prov reco sear tabl trac tria trie"
RECORDS: Final = Opening(
    rf"(?:^|[^a-z])(?:{RECORD})(?![a-z])",
    "arch best earl fami hist know last list log logs past prev prio prov rece reco so tabl the top trac tria what",
    also="#",
    needs=_OF_RECORDS,
)
HISTORY: Final = Opening(
    rf"(?:^|[^a-z])(?:{OF_TRIALS})(?![a-z])|#\d",
    "earl fami hist know past prev prio prov so tria",
    also="#",
)
"""Words for what the search tried before."""

_TRIALS: Final = stems("tria hist list reco log logs arch earl prev past prio fami prov know far trie cand sear")


def speaks_of_trials(words: Words) -> bool:
    """Whether a sentence can speak of earlier trials."""
    return "#" in words.plain or not words.stems.isdisjoint(_TRIALS)


REASONING: Final = Opening(
    r"(?:^|[^a-z])(?:leads? (?:only )?to|(?:can|could|may|might|cannot|never) (?:\w{1,8} )?(?:slide|slip|end|lead|reach"
    r"|fall|drop|go|move|enter|make)|(?:wrong|right|same) sign|sign (?:of|has|is)|outcomes?|probab\w{2,6}|usual layout"
    r"|likely (?:a )?hole|chances? (?:of|to|for)|one in three|1/3|third of)(?![a-z])",
    "can cann chan coul lead like may migh neve one outc prob righ same sign thir usua wron",
    also="1/3",
)
"""Words of an argument from the policy's formula or from what is known of the task."""

_PRACTICALLY: Final = (
    r"(?:practically|virtually|essentially|basically|almost|nearly|as good as|more or less"
    r"|effectively|in effect|in essence|to all intents)"
)
NO_REASON: Final = Opening(
    rf"(?:^|[^a-z])(?:{_PRACTICALLY} no (?:real )?change"
    r"|(?:leav(?:e|ing)|left|keep(?:ing)?|kept|hand(?:ed)?|return(?:ed)?|stays?|remains?|is"
    r"|submit(?:ted)?)(?: [\w']{1,12}){0,4}?"
    rf" {_PRACTICALLY} (?:unchanged|the same|as (?:it|they) (?:is|are|was|were)|identical|untouched|intact|everything)"
    r"|(?:only|just|merely|simply|purely|solely) (?:because|since|as|to|so that"
    r"|for)(?: [\w',-]{1,14}){0,8}? (?:repeat\w{0,4}|identical|cop(?:y|ies)|requested|expected|wanted"
    r"|duplicat\w{1,3}|unchanged|the same (?:policy|vector|parameters|numbers|table|answer)|handed back"
    r"|something (?:has|had|must|is to)|required"
    r"|demanded|asked|not allowed|forbidden|differ(?:s|ent)?|form's sake|variety)"
    r"|no (?:particular|special|specific|good|strong|real|compelling|deeper|great) reason(?! (?:to|why"
    r"|for) (?:\w{1,12} ){0,4}(?:rest|other))"
    r"|(?:token|nominal|cosmetic|symbolic|purely formal|placeholder) (?:change|tweak|nudge|edit|step|move|adjustment"
    r"|difference)"
    r"|for form's sake|as a formality|(?:keep|leave|kept|left) everything(?: as it (?:is|was)| alone"
    r"| unchanged)? ?(?:[.;,:!]|$)"
    r"|(?:satisf(?:y|ies)|compl(?:y|ies) with|meets?) the (?:rules?|requirements?|instructions?)|if (?:that|it"
    r"|this) (?:were|was) (?:permitted|allowed|possible)"
    r"|no (?:real |good |strong )?(?:argument|justification|grounds?|basis) for (?:it|this|that|the change)"
    r"|see what happens|without (?:any |a )?(?:particular |special |good |real )?reason|(?:cannot|can't|not"
    r"|n't) (?:find|see) anything (?:wrong|to)|just (?:for|an?) (?:exploration|experiment|the sake|a try)"
    r"|makes? (?:no|little|hardly any) difference|for no (?:reason|purpose)"
    r"|because (?:some|a|any|another) (?:change|difference|new \w{1,10})(?: \w{1,8}){0,2} (?:requested|required"
    r"|asked|demanded|expected|needed|wanted)"
    r"|no (?:real )?change worth|(?:nothing|little) (?:left |here |more |much )?to (?:gain|improve|win|change|mend)"
    r"|nothing more than (?:a )?(?:formality|form)"
    r"|no change (?:is|was|seems|seemed|looks)(?: \w{1,10})? (?:needed|called for|warranted|necessary|justified|due)"
    r"|nothing (?:here )?(?:needs|needed|calls|called|wants|asks|is) (?:\w{1,8} )?(?:chang\w{1,3}|mend\w{0,3}"
    r"|fix\w{0,3}|repair\w{0,3}|altering)"
    r"|(?:picked|chosen|chose|took|drawn) (?:\w{1,8} ){0,2}at random|arbitrar(?:y|ily)|a (?:pure |mere |blind )?guess"
    r"|just (?:to (?:try|see|explore)|an experiment))(?![a-z])",
    "a almo arbi as basi beca can cann chos comp cosm draw effe esse for hand if in is just keep kept leav "
    "left litt make meet mere more n near no nomi not noth only pick plac prac pure rema retu sati see simp "
    "sole stay subm symb to toke took virt with",
)
"""That nothing was changed to speak of, or for no reason."""

_NOMINAL: Final = stems(
    "repe iden copi copy requ expe want dupl unch dema aske allo forb vari reas toke nomi cosm symb plac ever"
    " need warr nece noth rand arbi gues expl sati perm wort gain argu grou happ anyt prac virt esse almo near"
    " effe good"
)
_OTHERS: Final = compiled(r"(?:^|[^a-z])(?:rest|others?|else|remaining)(?![a-z])")


def gives_no_reason(words: Words) -> bool:
    """Whether a sentence states that the change is nominal or has no reason."""
    if words.stems.isdisjoint(_NOMINAL):
        return False
    return NO_REASON.search(words) is not None and not _OTHERS.search(words.plain)


ONE_AND_THE_SAME: Final = compiled(
    r"(?:^|[^a-z])(?:(?:the |one and the |this )?same(?: one)?(?:[ ,(]{1,3}| as )(?:(?:single|one) )?(?:roll-?out"
    r"|run|episode|trajectory|trace)"
    r"|(?:are|is|were|being) (?:both |also |again )?(?:the same one|one and the same|identical|one (?:rollout|run"
    r"|episode))"
    r"|(?:is|are) (?:also )?(?:both )?(?:the )?(?:worst|median|best)(?: one| rollout)? (?:too|as well|alike|at once)"
    r"|both times"
    r"|coincide|are both (?:roll-?out|run|episode)|is also the (?:worst|median|best)|also the (?:worst|median"
    r"|best) one)(?![a-z])"
)
"""That two of the rollouts shown are one."""

CONTRAST: Final = Opening(
    r"(?:^|[^a-z])(?:whereas|while|unlike|different(?:ly)?|in contrast|by contrast|on the other hand|not (?:see|show"
    r"|have|suffer)|n't (?:see|show|have|suffer)"
    r"|no (?:such|trouble|problem|sign)|copes?|coped|not (?:happen|occur)|n't (?:happen|occur)|fine|neither|in time"
    r"|but|avoid(?:s|ed)|healthy|never|(?:do|does|did)(?: not|n't)|less clearly|too (?:good|short|brief)|survives?"
    r"|survived|succeeds?|succeeded|holds?|held|safe(?:ly)?|perfect(?:ly)?|rides? it out|reach(?:es|ed)? the goal"
    r"|never gets?|wins?|won|solved?|extreme|margins?|free of|unaffected|instead)(?![a-z])",
    "avoi but by cope did didn diff do does don extr fine free heal held hold in inst less marg n neit neve no "
    "not on perf reac ride safe solv succ surv too unaf unli wher whil win wins won",
)
"""That rollouts differ."""

USUAL: Final = Opening(
    r"(?:^|[^a-z])(?:(?:nearly |almost )?(?:every|each|most|all)(?: of)?(?: the)? (?:roll-?outs?|runs?|episodes?"
    r"|success\w{0,2}|games?)"
    r"|systematic(?:ally)?|(?:usual|typical)(?:ly)?(?! (?:run|roll-?out|episode|one))"
    r"|no accident|most of the (?:lost|missing|return|losses)"
    r"|(?:must|has to|have to) (?:pass|cross)|(?:passes|crosses) (?:it|there) every time)(?![a-z])",
    "all almo cros each ever has have most must near no pass syst typi usua",
)
"""That a failure is usual."""

CONFIRMS: Final = Opening(
    r"(?:^|[^a-z])(?:(?:evidence|roll-?outs?|recordings?|traces?|episodes|runs|they|it|this|that|which|[abc]"
    r"|behaviou?r|what (?:is|was) shown|data)"
    r"(?: \w{1,10}){0,4}? (?:in line|in keeping|consistent|agrees?|confirms?|bears? (?:this|it|that) out|supports?"
    r"|fits?|illustrates?|matches|tall(?:y|ies)|corroborates?"
    r"|square|squares|shows? (?:up )?in|is (?:visible|seen|to be seen|borne out)|appears? in)"
    r"|as (?:the )?(?:roll-?outs?|[abc]|worst|median|best)(?: \w{1,10})?"
    r" (?:confirms?|shows?|illustrates?)|borne out by|illustrated by|(?:in agreement|in line|in keeping"
    r"|consistent) with)(?![a-z])",
    "a as b beha born c cons data epis evid illu in it reco roll runs that they this trac what whic",
    needs="agre appe bear born conf cons corr fit fits illu keep line matc seen show squa supp tall visi",
)
"""That what was seen agrees with a diagnosis made before."""

SECONDARY: Final = compiled(
    r"[^a-z]{0,8}(?:second(?:ly)?|another|also|besides|in addition|further(?:more)?|moreover|finally|last(?:ly)?"
    r"|third(?:ly)?|smaller|minor|the (?:other|second|third|smaller)"
    r"|one more|as for)(?![a-z])"
)
"""That a sentence is about another change than the main one."""

SAME_REASON: Final = compiled(
    r"for (?:much |exactly |just )?the same (?:kind of |sort of )?(?:reason|purpose|argument)"
)
"""That a second change has the reason of the first, where no rollout is named."""

TYPICAL: Final = Opening(
    r"(?:^|[^a-z])(?:ordinary|usual(?:ly)?|typical(?:ly)?|normal(?:ly)?|representative|everyday|most (?:often"
    r"|rollouts|runs|games)|average|standard)(?![a-z])",
    "aver ever most norm ordi repr stan typi usua",
)
"""That a rollout is what mostly happens."""

EXEMPLARY: Final = Opening(
    r"(?:^|[^a-z])(?:cop(?:y|ied|ies)|imitat\w{1,3}|extend\w{0,3}|reinforc\w{1,3}|more of (?:that|this|the same"
    r"|what)|example|model|template|how it should|should look|emulat\w{1,3}"
    r"|reproduc\w{1,3}|generali[sz]\w{1,3}|as (?:in|with) the best|builds? on|build on|amplif\w{1,3}|strengthen(?:ed"
    r"|s)? (?:that|this|what)|does (?:well|right)|(?:working|usable|viable|workable|proven) (?:route|way|path"
    r"|recipe)|happens? every time|worth (?:copying|keeping|having))(?![a-z])",
    "ampl as buil copi copy does emul exam exte gene happ how imit mode more prov rein repr shou stre temp "
    "usab viab work wort",
)
"""That a rollout is one to follow."""

REASONED: Final = Opening(
    r"(?:^|[^a-z])(?:because|since|so|therefore|thus|hence|which|would|should|as|reason|cause[sd]?|fault|why|too|but"
    r"|needs?|must)(?![a-z])",
    "as beca but caus faul henc must need reas shou sinc so ther thus too whic why woul",
)
"""Words without which a text gives hardly any reason."""

FAULTY: Final = Opening(
    r"(?:^|[^a-z])(?:wrong|revers(?:ed|es)|backwards?|inverted|upside down|too (?:strong|weak|large|small|high|low"
    r"|steep|heavy|little|much|big|close)"
    r"|cannot|never|missing|lacks?|no (?:term|way)|ignores?|needs?|must|should|ought|opposite|mistaken|dangerous"
    r"|unsafe|safe(?:st)?|risk(?:s|y)?"
    r"|contradicts?|conflicts?|outvotes?|dominates?|swamps?|drowns?|out of (?:proportion|line)|stands out|odd"
    r"|suspicious|pointless|useless|can't|does ?n't)(?![a-z])",
    "back can cann conf cont dang does domi drow igno inve lack miss mist must need neve no odd oppo ough out "
    "outv poin reve risk safe shou stan susp swam too unsa upsi usel wron",
)
"""That something in a policy is at fault."""

KNOWN: Final = Opening(
    r"(?:^|[^a-z])(?:textbook|in theory|known to|standard|usual layout|by design|in general|as a rule"
    r"|every linear)(?![a-z])",
    "as by ever in know stan text usua",
)
"""That something is known of such tasks."""

POLICY: Final = Opening(
    r"(?:^|[^a-z])(?:weights?|signs?|bias(?:es)?|formula|linear|coefficients?|entr(?:y|ies)|actions?|action numbers"
    r"|controllers?|policy|ice|slips?|hole|holes"
    r"|difference|terms?|outputs?|numbers?|params?\[\d{1,3}\])(?![a-z])",
    "acti bias coef cont diff entr form hole ice line numb outp para poli sign slip term weig",
)
"""Words for what a policy is made of, and for how the task works."""

TREND: Final = Opening(
    rf"(?:^|[^a-z])(?:(?:{RECORD})(?:[\w#,()=.-]| (?!that |which )){{0,40}}?"
    r" (?:shows?|suggests?|indicates?|says?|tells?|points?|makes? clear|reveals?|leaves?|scored?|reach(?:ed|es)?|got"
    r"|gave|had"
    r"|did|does|earned|held|averaged|is|are|was|were|knows?|share|differs?|stayed|brought|returned)"
    r"|(?:means?|returns?|scores?) (?:rose|rises?|went|goes|fell|falls?|dropped|climb(?:s|ed)|grew|grows|increased"
    r"|improved)"
    r"|(?:come|came|comes|go|goes|went) with (?:returns?|means?|scores?)"
    rf"|(?:in|from|among|across|of|over|by|per|to|with|through|down|at|comparing|between|see) (?:the )?(?:whole "
    rf"|full |entire )?(?:{RECORD}))(?![a-z])",
    "acro amon arch at best betw by came come comp down earl fami from go goes hist in know last list log* "
    "mean of over past per prev prio prov rece reco retu scor see so tabl the thro to top trac tria "
    "went what with",
    also="#",
    needs=f"{_OF_RECORDS} mean retu scor",
)
"""That earlier trials show something."""

IMPERFECTION: Final = Opening(
    r"(?:^|[^a-z])(?:drift|hover|off[-\x20]cent(?:re|er)|creep|wander|not (?:come|return|get)\w{0,3} back|imperfection"
    r"|resting|lag|oscillat|weak spot|stays around)\w{0,4}(?![a-z])",
    "cree drif hove impe lag* not off osci rest stay wand weak",
)
"""What a rollout that did not fail may still show."""

_BACK: Final = stems(
    "back retu reve rest read adop copi copy borr reus reus star rein resu revi undo undi buil agai once"
)
_GOING_BACK: Final = Opening(
    r"(?:^|[^a-z])(?:(?:went|go|goes|going|came|come|moved?|fell|fall|switch(?:ed)?|step(?:ped)?|back) back (?:to|on"
    r"|towards?)"
    r"|(?:return|revert)(?:ed|ing|s)? (?:back )?to|restor(?:e|ed|es|ing)|(?:re-?)?adopt(?:ed|ing|s)?|cop(?:y|ied|ying)"
    r"|borrow(?:ed|ing|s)?|re-?us(?:e|ed|es|ing)|start(?:ed|ing|s)? (?:again |over |out )?from|reinstat(?:e|ed|es"
    r"|ing)|resum(?:e|ed|ing)"
    r"|reviv(?:e|ed|ing)|(?:pick|take|took|bring|brought|put|hand|give)(?:ed|s|ing)?(?: [\w#]{1,10}){0,3} back"
    r"|undo(?:es|ing|ne)?|undid"
    r"|buil[dt](?:s|ing)? on|back to)"
    rf"(?:(?: [\w',()-]{{1,16}}){{0,7}}? (?:{OF_TRIALS}|#\d)| (?P<it>it|that|this|them|those|one)(?![a-z]))"
    rf"|(?:^|[^a-z])(?:take|took|taking|use|used|using|pick(?:ed)?|br(?:ing|ought)|hand(?:ed)?|put|submit(?:ted)?"
    rf"|propos(?:e|ed)|g[ia]ve|get)"
    rf"(?: [\w',()-]{{1,16}}){{0,4}}? (?:{OF_TRIALS}|#\d)[\d]{{0,4}}(?: [\w',()-]{{1,16}}){{0,3}}? (?:back|up again"
    rf"|once more|again)(?![a-z])",
    "adop back borr brin brou buil came come copi copy fall fell gave get give go goes goin hand move pick prop put"
    " pute puti puts re read rein rest resu retu reus reve revi star step subm swit take taki took undi undo use used"
    " usin went",
    also="#",
)


_NOT: Final = compiled(
    r"(?:(?:^|[^a-z])(?:(?<!why\x20)not|never|no|without|rather than|instead of|cannot|would|could|might|if)"
    r"|n't)(?: \w{1,12}){0,2} ?$"
)


def goes_back(words: Words, *, trials: bool) -> bool:
    """Whether a sentence gives the policy up for an earlier one: "I went back to trial 12", "I went back to it".

    Args:
        words: those of the sentence.
        trials: whether it or the sentence before it, which "it" may refer to, speaks of trials.
    """
    if not trials or words.stems.isdisjoint(_BACK):
        return False
    found = _GOING_BACK.search(words)
    return found is not None and not _NOT.search(words.plain, max(0, found.start() - 40), found.start() + 1)


FAILING: Final = Opening(
    r"(?:^|[^a-z])(?:dies|died|hole|terminat\w{2,3}|ends?|ended|los[te]s?|falls?|fell|fail(?:s|ed)|miss(?:es|ed)?"
    r"|kill(?:s|ed)"
    r"|slid(?:es)?|leaves|left the track|runs? off|tips|tipped|crash(?:es|ed)|topples|toppled)(?![a-z])",
    "cras died dies end ende ends fail fall fell hole kill leav left lose lost miss run runs slid term tipp tips topp",
)
"""Words for how a rollout failed."""
