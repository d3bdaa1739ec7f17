package rawjson

import "fmt"

// SyntaxError says where and why a text is not JSON.
type SyntaxError struct {
	Offset int // in bytes
	Reason string
}

func (e *SyntaxError) Error() string { return e.Reason }

// Check reports whether text is exactly one JSON value, surrounded by space at
// most, with no more than depth levels of lists and objects. The error is a
// *SyntaxError.
func Check(text []byte, depth int) error {
	end, err := checkValue(text, space(text, 0), depth)
	if err != nil {
		return err
	}
	if end = space(text, end); end < len(text) {
		return unexpected(text, end, "the end")
	}
	return nil
}

// checkValue checks the value that starts at i and returns where it ends.
func checkValue(text []byte, i, depth int) (int, error) {
	if i >= len(text) {
		return i, unexpected(text, i, "a value")
	}
	switch c := text[i]; {
	case c == '"':
		return checkString(text, i)
	case depth == 0 && (c == '{' || c == '['):
		return i, &SyntaxError{Offset: i, Reason: "lists and objects are nested too deeply"}
	case c == '{':
		return checkObject(text, i, depth)
	case c == '[':
		return checkList(text, i, depth)
	case c == '-' || isDigit(c):
		return checkNumber(text, i)
	}
	for _, word := range []string{"true", "false", "null"} {
		if len(text)-i >= len(word) && string(text[i:i+len(word)]) == word {
			return i + len(word), nil
		}
	}
	return i, unexpected(text, i, "a value")
}

func checkObject(text []byte, i, depth int) (int, error) {
	i = space(text, i+1)
	if at(text, i) == '}' {
		return i + 1, nil
	}
	for {
		if at(text, i) != '"' {
			return i, unexpected(text, i, "a key in double quotes")
		}
		end, err := checkString(text, i)
		if err != nil {
			return i, err
		}
		if i = space(text, end); at(text, i) != ':' {
			return i, unexpected(text, i, "a colon after the key")
		}
		if end, err = checkValue(text, space(text, i+1), depth-1); err != nil {
			return i, err
		}
		switch i = space(text, end); at(text, i) {
		case ',':
			i = space(text, i+1)
		case '}':
			return i + 1, nil
		default:
			return i, unexpected(text, i, "a comma or the end of the object")
		}
	}
}

func checkList(text []byte, i, depth int) (int, error) {
	i = space(text, i+1)
	if at(text, i) == ']' {
		return i + 1, nil
	}
	for {
		end, err := checkValue(text, i, depth-1)
		if err != nil {
			return i, err
		}
		switch i = space(text, end); at(text, i) {
		case ',':
			i = space(text, i+1)
		case ']':
			return i + 1, nil
		default:
			return i, unexpected(text, i, "a comma or the end of the list")
		}
	}
}

func unexpected(text []byte, i int, wanted string) error {
	if i >= len(text) {
		return &SyntaxError{Offset: len(text), Reason: fmt.Sprintf("the text ends where %s was expected", wanted)}
	}
	return &SyntaxError{Offset: i, Reason: fmt.Sprintf("found %q where %s was expected", text[i], wanted)}
}
