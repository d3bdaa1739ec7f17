package docstream

import (
	"bufio"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// utf16Reader turns UTF-16, as some shells of Windows redirect their output,
// into UTF-8. What is not UTF-16 becomes U+FFFD.
type utf16Reader struct {
	in    *bufio.Reader
	order binary.ByteOrder
	left  []byte // of a character that did not fit the last time
}

// asUTF8 returns a reader of the text in UTF-8, without its byte order mark.
func asUTF8(in *bufio.Reader) *bufio.Reader {
	mark, _ := in.Peek(3)
	switch {
	case string(mark) == "\ufeff":
		_, _ = in.Discard(3)
	case len(mark) >= 2 && mark[0] == 0xff && mark[1] == 0xfe:
		_, _ = in.Discard(2)
		return bufio.NewReaderSize(&utf16Reader{in: in, order: binary.LittleEndian}, bufferSize)
	case len(mark) >= 2 && mark[0] == 0xfe && mark[1] == 0xff:
		_, _ = in.Discard(2)
		return bufio.NewReaderSize(&utf16Reader{in: in, order: binary.BigEndian}, bufferSize)
	}
	return in
}

// Read implements io.Reader.
func (u *utf16Reader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(u.left) == 0 {
			r, err := u.next()
			if err != nil {
				return n, err
			}
			u.left = utf8.AppendRune(u.left, r)
		}
		copied := copy(p[n:], u.left)
		u.left = u.left[copied:]
		n += copied
	}
	return n, nil
}

// next reads one character.
func (u *utf16Reader) next() (rune, error) {
	first, err := u.unit()
	if err != nil || !utf16.IsSurrogate(first) {
		return first, err
	}
	if ahead, _ := u.in.Peek(2); len(ahead) == 2 {
		if r := utf16.DecodeRune(first, rune(u.order.Uint16(ahead))); r != utf8.RuneError {
			_, err := u.unit()
			return r, err
		}
	}
	return utf8.RuneError, nil
}

func (u *utf16Reader) unit() (rune, error) {
	var unit [2]byte
	switch _, err := io.ReadFull(u.in, unit[:]); err {
	case nil:
		return rune(u.order.Uint16(unit[:])), nil
	case io.ErrUnexpectedEOF:
		return utf8.RuneError, nil // half a character
	default:
		return 0, err
	}
}
