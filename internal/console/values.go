package console

import (
	"encoding/json"

	"fairlead.dev/fairlead/internal/messages"
)

// maxValue is how much of the value of a field is shown.
const maxValue = 400

// shownValue is the value of a field on one line, as JSON where it is more than a text.
func shownValue(value any) string {
	switch value := value.(type) {
	case nil:
		return "nothing"
	case string:
		return messages.Line(value, maxValue)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "a value that cannot be shown: " + err.Error()
	}
	return messages.Line(string(text), maxValue)
}
