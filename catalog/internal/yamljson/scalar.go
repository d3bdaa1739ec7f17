package yamljson

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"fairlead.dev/fairlead/catalog/internal/rawjson"
	"go.yaml.in/yaml/v3"
)

// words are the plain scalars that Kubernetes reads as booleans and null.
var words = map[string]string{
	"": "null", "~": "null", "null": "null", "Null": "null", "NULL": "null",
	"true": "true", "True": "true", "TRUE": "true",
	"yes": "true", "Yes": "true", "YES": "true", "y": "true", "Y": "true",
	"on": "true", "On": "true", "ON": "true",
	"false": "false", "False": "false", "FALSE": "false",
	"no": "false", "No": "false", "NO": "false", "n": "false", "N": "false",
	"off": "false", "Off": "false", "OFF": "false",
}

// appendPlain appends the value of a scalar written without quotes.
func appendPlain(dst []byte, text string) ([]byte, error) {
	if len(text) <= len("false") {
		if word, ok := words[text]; ok {
			return append(dst, word...), nil
		}
	}
	if !mayBeNumber(text) {
		return rawjson.AppendString(dst, text), nil
	}
	if isDecimal(text) {
		return append(dst, text...), nil
	}
	// Keep a number as JSON writes them, however large, and asks the complete parser what any other text is
	if rawjson.Check([]byte(text), 0) == nil {
		return append(dst, text...), nil
	}
	node := yaml.Node{Kind: yaml.ScalarNode, Value: text}
	var value any
	switch node.ShortTag() {
	case "!!int", "!!float":
		if err := node.Decode(&value); err != nil {
			return nil, err
		}
	default:
		return rawjson.AppendString(dst, text), nil
	}
	f, ok := value.(float64)
	switch {
	case !ok:
		return fmt.Append(dst, value), nil
	case math.IsInf(f, 0) || math.IsNaN(f):
		return nil, fmt.Errorf("%s has no form in JSON", text)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64), nil
}

// mayBeNumber is false for nearly all strings, at little cost.
func mayBeNumber(text string) bool {
	switch c := text[0]; {
	case c == '+' || c == '-' || c == '.' || '0' <= c && c <= '9':
	default:
		return false
	}
	return strings.Trim(text, "0123456789abcdefABCDEFxXoO_.+-iInN") == ""
}

// isDecimal reports whether text is an integer as JSON writes it.
func isDecimal(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || len(digits) > 15 || len(digits) > 1 && digits[0] == '0' {
		return false
	}
	return strings.Trim(digits, "0123456789") == ""
}
