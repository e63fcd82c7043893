insert into texts (text_hash, text)
select text_hash, any_value(text)
from incoming
where text_hash not in (select text_hash from texts)
group by text_hash
