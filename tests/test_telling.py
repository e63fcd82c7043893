"""How errors are told in the terminal: each once, with its places."""

import json


def test_at_most_20_problems_are_printed(tiny, desk):
    lines = [json.dumps({"text": "t", f"key{n}": ""}) for n in range(30)]
    answer = desk(tiny(questions=lines), "index", "tiny")
    assert answer.code == 2 and len(answer.errors) == 21
    assert answer.errors[-1].startswith("error: and ")


def test_one_problem_at_many_places_is_one_sentence(tiny, desk):
    answer = desk(tiny(["{"] * 30), "index", "tiny")
    (error,) = answer.errors
    assert error.startswith("error: data/tiny/corpus.jsonl:1: the line is not JSON")
    assert "(also at 2, 3, 4, 5, 6, 7, 8, 9 and 21 more)" in error
