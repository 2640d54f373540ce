"""Answers in other languages: what a detector finds in one, or does not, is no finding."""

from __future__ import annotations

import json

import duckdb
import pytest

import audit
from audit.models.catalog import functions, functions_in
from tests.audit.samples import SHARED, candidate, episode, write_run
from tests.audit.texts import text_revision, text_run

FOREIGN = {
    "German": (
        "Der schlechteste Durchlauf endete nach 63 Schritten, da der Stab fiel. Ich erhöhe params[2] von 0.4 auf 0.9.",
        "Im zweiten Beispiel fehlt die Einheit, daher wird der Prompt um eine Regel ergänzt.",
        "Die Belohnung ist in allen drei Läufen niedrig. Das Gewicht für den Winkel ist zu klein und wird verdoppelt.",
        "## Analyse\n\n- Beispiel 1 ist falsch, weil das Datum nicht gelesen wurde\n- Beispiel 2 ist richtig",
        "Nicht der Median, sondern der schlechteste Lauf ist für die Änderung entscheidend. params = [0.1, 0.2]",
    ),
    "French": (
        "La pire trajectoire tombe à gauche après 63 pas ; j'augmente donc params[2] de 0.4 à 0.9.",
        "Le deuxième exemple est faux parce que l'unité manque. J'ajoute une règle pour les unités.",
        "Les trois essais échouent dans la même position : le gain est trop faible, et la poutre n'est pas stable.",
        "L'exemple 2 montre que la consigne est ambiguë. Il faut préciser le format de la date.",
        "On garde la politique du meilleur essai, avec un pas plus petit sur params[1].",
    ),
    "Spanish": (
        "El peor episodio termina en 63 pasos porque el poste cae a la izquierda. Aumento params[2] de 0.4 a 0.9.",
        "En el segundo ejemplo falta la unidad, por lo que agrego una regla para las unidades.",
        "Los tres intentos fallan en la misma posición: la ganancia es muy baja y el brazo no se mueve.",
        "El ejemplo 2 muestra que la instrucción es ambigua; hay que aclarar el formato de la fecha.",
        "Mantengo los pesos del mejor episodio y reduzco el paso para los demás.",
    ),
    "Chinese": (
        "最差的轨迹在63步后向左倒下，因此我把 params[2] 从 0.4 提高到 0.9。",
        "第二个例子缺少单位，所以在提示中加入一条关于单位的规则。",
        "三次尝试都在同一位置失败：增益太小。",
        "示例2表明说明含糊不清 (the answer must be a date)，需要明确日期格式。",
        "保持最好的参数。",
    ),
    "Russian": (
        "Худший прогон закончился через 63 шага, потому что шест упал влево. Я увеличиваю params[2] с 0.4 до 0.9.",
        "Во втором примере нет единицы измерения, поэтому добавляю правило.",
        "Все три попытки проваливаются в одной и той же точке: усиление слишком мало.",
        "Пример 2 показывает, что инструкция неоднозначна (Answer with the date of the event).",
        "Оставляю лучшие веса.",
    ),
    "Japanese": (
        "最悪の軌道は63ステップで左に倒れたため、params[2] を 0.4 から 0.9 に上げます。",
        "2番目の例では単位が欠けているので、単位に関する規則を追加します。",
        "三回とも同じ位置で失敗しています。ゲインが小さすぎます。",
        "例2は指示が曖昧であることを示しています。日付の形式を明確にします。",
        "最良のパラメータを維持します。",
    ),
    "others": (
        "Het slechtste voorbeeld is niet opgelost omdat de eenheid ontbreekt.",
        "Det sämsta exemplet är fel och instruktionen säger inte att enheten behövs.",
        "L'esempio peggiore non è risolto perché manca l'unità della misura.",
        "O pior exemplo não foi resolvido porque falta uma unidade.",
        "최악의 궤적은 왼쪽으로 넘어졌습니다.",
        "أسوأ محاولة سقطت إلى اليسار",
    ),
}
ENGLISH = (
    "",
    "Increase gain.",
    "params[0] = 1.5, params[1] = -2.0",
    "params: [1.0, 2.0, 3.0]",
    "```python\ndef f(x):\n    la = np.linalg\n    le = LabelEncoder()\n    return le.fit(la.norm(x))\n```",
    "def main():\n    for el in los:\n        del el\n    return dict(os.environ)",
    "Lower θ to 0.3; Δv and α stay. ∑ xᵢ ≤ 2π.",
    "Worst rollout: 63 steps. Raise K_p → 0.9; keep K_d.",
    "The example asks for « le chat est dans la maison et le chien » in French; the answer must keep its accents.",
    "Example 2 shows the Chinese text 最差的轨迹在63步后向左倒下, which the model was to translate: add a rule.",
    "El Niño, et al., la carte, des Moines: names of places, as in the second example, are to be kept.",
    '{"0": 1.5, "1": 2.0, "explanation": "cut off"}',
)


@pytest.fixture(scope="module")
def judge():
    """Which of some answers are in another language."""
    with duckdb.connect() as connection:
        for name in functions_in("is_foreign()"):
            connection.execute(functions()[name])

        def judged(answers):
            return [connection.execute("select is_foreign(?)", [answer]).fetchall()[0][0] for answer in answers]

        yield judged


def test_other_languages_are_known_by_script_or_stop_words(judge):
    for language, answers in FOREIGN.items():
        assert [answer for answer, found in zip(answers, judge(answers), strict=True) if not found] == [], language


def test_english_code_and_few_words_are_not_taken_for_another_language(judge):
    assert [answer for answer, found in zip(ENGLISH, judge(ENGLISH), strict=True) if found] == []


@pytest.mark.skipif(not SHARED.exists(), reason="the shared material is not here")
def test_real_english_answers_are_english(judge):
    answers = [json.loads(line)["answer"] for line in (SHARED / "interventions/answers.jsonl").read_text().splitlines()]
    for path in (SHARED / "critic_texts/records").rglob("episodes.jsonl"):
        answers += [json.loads(line)["revised"]["answer"] for line in path.read_text().splitlines()]
    assert len(answers) == 63
    assert sum(judge(answers)) == 0
    assert sum(judge([answer[:80] for answer in answers])) == 0


CITED = "Der schlechteste Lauf (worst) ist für die Änderung entscheidend, nicht der Median."
"""With the name that detectors look for. Counted while answers that lack it are not, it would make a rate of one."""


def test_of_none_of_them_it_is_known_what_it_cites(tmp_path):
    answers = [*FOREIGN["German"][:3], CITED, "Worst rollout: it fell.", "All of them fell."]
    lines = [
        episode(revised=candidate([0, 0, 0], params=[1, 2, 4], source="critic", answer=answer), iteration=place)
        for place, answer in enumerate(answers)
    ]
    write_run(tmp_path, lines)
    for detector in ("word", "phrase", "resolved"):
        with audit.open(tmp_path, detector=detector) as store:
            found = [
                row["cites"] for row in audit.sql(store, 'select iteration, cites from "references" order by iteration')
            ]
        assert found[:4] == [None] * 4, detector
        assert found[5] is False, detector
    rates = audit.rates(tmp_path, detector="word")
    [row] = rates
    assert (row["revisions"], row["regressions"], row["citing_regressions"]) == (2, 2, 1)
    said = "4 of 6 answers are not in English, which the detector word does not read: they count in no rate"
    assert said in " ".join(rates.notes)
    assert said in " ".join(audit.salience(tmp_path, detector="word").notes)
    shown = str(audit.show(tmp_path, "cartpole", "threetraj", 1, 0))
    assert "whether it refers to the worst rollout is not known" in shown
    # A detector of one's own may read any language.
    own = tmp_path / "schlecht.toml"
    own.write_text('pattern = "schlechteste"\nflags = "i"\n')
    with audit.open(tmp_path, detector=str(own)) as store:
        rows = list(audit.sql(store, 'select cites from "references" order by iteration'))
    assert [row["cites"] for row in rows] == [True, False, False, True, False, False]


def test_where_no_answer_can_be_read_rates_say_so(tmp_path):
    lines = [
        text_revision([0, 1], [1, 1], answer=answer, iteration=place) for place, answer in enumerate(FOREIGN["Chinese"])
    ]
    write_run(tmp_path, lines, **text_run())
    table = audit.rates(tmp_path)
    assert list(table) == []
    assert "5 of 5 answers are not in English" in " ".join(table.notes)
    assert "5 of 5 rationales hold no common English word" in " ".join(audit.check(tmp_path).notes)
