package preview

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// plain says what is wrong with an object in words of the object, not in those of the program that reads it.
func plain(err error) error {
	var mistyped *json.UnmarshalTypeError
	if !errors.As(err, &mistyped) {
		return errors.New(tidy(strings.TrimPrefix(err.Error(), "json: ")))
	}
	is := map[string]string{"bool": "true or false", "array": "a list", "object": "an object", "string": "a text"}[mistyped.Value]
	if is == "" {
		is = tidy(mistyped.Value) // "number", or "number 5000000000" where it is too large
		if is == "number" {
			is = "a number"
		}
	}
	if mistyped.Field == "" {
		return fmt.Errorf("it is %s, and should be %s", is, expected(mistyped.Type))
	}
	return fmt.Errorf("field %s is %s, and should be %s", tidy(mistyped.Field), is, expected(mistyped.Type))
}

// expected is what a field of a Go type holds.
func expected(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return expected(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.String:
		return "a text"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return fmt.Sprintf("a whole number of %d bits", t.Bits())
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "an object"
}
