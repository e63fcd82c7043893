select label_ref from label_sets where collection = $collection and revision = $revision
