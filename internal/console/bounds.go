package console

import (
	"encoding/json"
	"fmt"
	"reflect"

	"fairlead.dev/fairlead/internal/messages"
)

// some is the beginning of a list, and how many more there are.
type some struct {
	Items any
	More  int
}

// first bounds a list that a page shows: what catalogs and objects have may be long.
func first(most int, list any) (some, error) {
	v := reflect.ValueOf(list)
	if v.Kind() != reflect.Slice {
		return some{}, fmt.Errorf("a page shows the first of a list, and this is a %T", list)
	}
	n := min(most, v.Len())
	return some{v.Slice(0, n).Interface(), v.Len() - n}, nil
}

// maxValue bounds a value of a field that a page shows, in bytes.
const maxValue = 300

// brief is a value of a field in one line.
func brief(value any) string {
	if value == nil {
		return "nothing"
	}
	if text, is := value.(string); is {
		return messages.Line(text, maxValue)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("a %T", value)
	}
	return messages.Line(string(text), maxValue)
}
