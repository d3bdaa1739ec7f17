package bundle

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// maxNumberText is the length of the longest text of a number that is read as a quantity.
const maxNumberText = 1000

// tinyNumber matches numbers that no quantity can tell from nothing. Reading one of them as a quantity takes time with its exponent: 3 s for
// 1e-9999999, and more than minutes for 1e-999999999.
var tinyNumber = regexp.MustCompile(`^[+-]?[0-9.]*[eE]-[0-9]{4,}$`)

// checkQuantities refuses texts whose reading as quantities would take long, anywhere in a value.
func checkQuantities(field string, value any) error {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if err := checkQuantities(field+"."+key, value[key]); err != nil {
				return err
			}
		}
	case []any:
		for i, item := range value {
			if err := checkQuantities(fmt.Sprintf("%s[%d]", field, i), item); err != nil {
				return err
			}
		}
	case string:
		if len(value) > maxNumberText && strings.Trim(value, "+-.0123456789eE") == "" {
			return fmt.Errorf("%s: a number of %d characters; write it with %d at most", field, len(value), maxNumberText)
		}
		if tinyNumber.MatchString(value) {
			return fmt.Errorf("%s: %.40q is too small for a number; write 0", field, value)
		}
	}
	return nil
}
