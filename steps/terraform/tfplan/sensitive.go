package tfplan

import "strings"

// tell names the strings of v that marks calls sensitive.
func (w *reader) tell(v, marks any) {
	if w.secret == nil {
		return
	}
	switch m := marks.(type) {
	case bool:
		if m {
			eachText(v, w.secret)
		}
	case map[string]any:
		o, _ := v.(map[string]any)
		for k, mark := range m {
			w.tell(o[k], mark)
		}
	case []any:
		list, _ := v.([]any)
		for i, mark := range m {
			if i < len(list) {
				w.tell(list[i], mark)
			}
		}
	}
}

func eachText(v any, do func(string)) {
	switch v := v.(type) {
	case string:
		if len(strings.TrimSpace(v)) >= 4 { // "on" would be hidden everywhere
			do(v)
		}
	case []any:
		for _, e := range v {
			eachText(e, do)
		}
	case map[string]any:
		for _, e := range v {
			eachText(e, do)
		}
	}
}
