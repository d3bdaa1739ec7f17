package rawjson

// checkString checks the string whose opening quote is at i.
func checkString(text []byte, i int) (int, error) {
	for i++; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return i + 1, nil
		case c == '\\':
			i++
			valid := false
			switch at(text, i) {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
				valid = true
			case 'u':
				valid = isHex(at(text, i+1)) && isHex(at(text, i+2)) && isHex(at(text, i+3)) && isHex(at(text, i+4))
			}
			if !valid {
				return i, &SyntaxError{Offset: i, Reason: "a backslash is followed by none of \"\\/bfnrt or u and four hexadecimal digits"}
			}
		case c < ' ':
			return i, &SyntaxError{Offset: i, Reason: "a string holds a control character or a line break that is not escaped"}
		}
	}
	return i, unexpected(text, i, "the end of a string")
}

// checkNumber checks the number that starts at i.
func checkNumber(text []byte, i int) (int, error) {
	start := i
	if at(text, i) == '-' {
		i++
	}
	whole := digits(text, i)
	if whole == i || (at(text, i) == '0' && whole > i+1) {
		return i, numberError(start)
	}
	i = whole
	if at(text, i) == '.' {
		end := digits(text, i+1)
		if end == i+1 {
			return i, numberError(start)
		}
		i = end
	}
	if c := at(text, i); c == 'e' || c == 'E' {
		i++
		if c := at(text, i); c == '+' || c == '-' {
			i++
		}
		end := digits(text, i)
		if end == i {
			return i, numberError(start)
		}
		i = end
	}
	return i, nil
}

func numberError(i int) error {
	return &SyntaxError{Offset: i, Reason: "a number is not written as JSON writes numbers"}
}

func digits(text []byte, i int) int {
	for isDigit(at(text, i)) {
		i++
	}
	return i
}

// space skips white space.
func space(text []byte, i int) int {
	for i < len(text) {
		switch text[i] {
		case ' ', '\n', '\t', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

// at is the byte at i, or 0 past the end.
func at(text []byte, i int) byte {
	if i >= len(text) {
		return 0
	}
	return text[i]
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHex(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
