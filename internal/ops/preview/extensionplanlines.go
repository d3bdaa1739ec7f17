package preview

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/internal/messages"
)

const (
	maxValueLines = 40  // of the text of a value
	maxValue      = 400 // bytes of a line of it
	maxShort      = 100 // bytes of a value that is shown on one line
	maxOrder      = 200 // bytes of what is shown of the order of a list
	beforeChange  = 40  // bytes that are shown before what differs in a long line
)

// none stands for the value of a field that is not there.
const none = "(none)"

// lines are a change for people: on one line where both values are short, else as a difference of their lines.
func (c FieldChange) lines() []string {
	if c.Order {
		return []string{c.Path + ": " + order(c.Before.([]any), c.After.([]any))}
	}
	before, one := short(c.Before)
	after, other := short(c.After)
	if !one || !other {
		return append([]string{c.Path + ":"}, compared(c.Before, c.After)...)
	}
	if messages.Clean(before) == messages.Clean(after) && before != after { // what differs is not printed, such as a control character
		before, after = strconv.QuoteToASCII(before), strconv.QuoteToASCII(after)
	}
	return []string{fmt.Sprintf("%s: %s -> %s", c.Path, messages.Clean(before), messages.Clean(after))}
}

// short is a value on one line; false where it needs more.
func short(value any) (string, bool) {
	switch v := value.(type) {
	case nil:
		return none, true
	case map[string]any, []any:
		return "", false
	case string:
		return scalar(v), !strings.Contains(v, "\n") && len(v) < maxShort
	}
	text, _ := json.Marshal(value) // it was read as JSON
	return string(text), true
}

// scalar is a string as it is, or in quotes where it would be taken for something else: "1" is not 1.
func scalar(text string) string {
	var read any
	err := yaml.Unmarshal([]byte(text), &read)
	switch read.(type) {
	case nil, bool, float64:
		if err == nil || text == "" {
			return strconv.Quote(text)
		}
	}
	if text == none || text != strings.TrimSpace(text) || strings.HasPrefix(text, `"`) {
		return strconv.Quote(text)
	}
	return text
}

// order is how the order of a list changes, without the items at both ends that stay where they are.
func order(before, after []any) string {
	first, last := 0, len(before)
	for first < last && same(before[first], after[first]) {
		first++
	}
	for last > first && same(before[last-1], after[last-1]) {
		last--
	}
	text := func(list []any) string {
		var items []string
		for _, item := range list[first:last] {
			if name, ok := item.(string); ok {
				items = append(items, scalar(name))
				continue
			}
			content, _ := json.Marshal(item) // it was read as JSON
			items = append(items, string(content))
		}
		return "[" + messages.Line(strings.Join(items, ", "), maxOrder) + "]"
	}
	where := ""
	if first > 0 || last < len(before) {
		where = fmt.Sprintf(" of items %d to %d", first+1, last)
	}
	return fmt.Sprintf("the same %d items in another order%s: %s -> %s", len(before), where, text(before), text(after))
}

// compared is the difference of the lines of two values.
func compared(before, after any) []string {
	one, other := texts(before, after)
	all := strings.Split(strings.TrimSuffix(string(diff.Diff("before", []byte(one), "after", []byte(other))), "\n"), "\n")
	all = all[min(3, len(all)):] // without its heading; what follows has a sign before each line, and @@ between parts
	var out []string
	for i, line := range all {
		if len(out) == maxValueLines {
			return append(out, fmt.Sprintf("  … %d more lines", len(all)-i))
		}
		switch sign, text := line[:min(1, len(line))], line[min(1, len(line)):]; sign {
		case "@":
			if i > 0 {
				out = append(out, "  …")
			}
		case `\`:
			out = append(out, `  \ no newline at the end`)
		default:
			out = append(out, "  "+sign+" "+messages.Line(text, maxValue))
		}
	}
	return out
}

// texts are two values as texts, in which all that differs can be seen.
func texts(before, after any) (string, string) {
	one, isOne := before.(string)
	other, isOther := after.(string)
	switch {
	case !(isOne || before == nil) || !(isOther || after == nil): // a string and something else are told apart by its quotes
		return encoded(before), encoded(after)
	case !strings.Contains(one, "\n") && !strings.Contains(other, "\n"):
		skip := 0
		for skip < min(len(one), len(other)) && one[skip] == other[skip] {
			skip++
		}
		if skip -= beforeChange; skip > 0 && max(len(one), len(other)) > maxValue {
			one, other = "…"+strings.ToValidUTF8(one[skip:], ""), "…"+strings.ToValidUTF8(other[skip:], "")
		}
	}
	if isOne && isOther && strings.HasSuffix(one, "\n") != strings.HasSuffix(other, "\n") {
		return one, other
	}
	ended := func(text string, is bool) string {
		if is {
			return strings.TrimSuffix(text, "\n") + "\n"
		}
		return ""
	}
	return ended(one, isOne), ended(other, isOther)
}

// encoded is a value as YAML; nothing for none.
func encoded(value any) string {
	if value == nil {
		return ""
	}
	out, _ := yaml.Marshal(value) // it was read as JSON
	return string(out)
}
