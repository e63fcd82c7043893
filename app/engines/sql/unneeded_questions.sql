delete from questions
where
    question_ref not in (select question_ref from execution_questions)
    and question_ref not in (select question_ref from hits)
    and question_ref not in (select question_ref from label_questions)
    and question_ref not in (select question_ref from label_pairs)
    and question_ref not in (select question_ref from scores)
