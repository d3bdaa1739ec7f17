package compact

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Decoder reads what an Encoder has written, in the same order. After the
// first fault everything it returns is empty, and Err says what it was.
type Decoder struct {
	body   []byte
	texts  []string
	values [][]byte
	err    error
}

// NewDecoder reads the sections, of which texts and values are shared by all
// that is read from them.
func NewDecoder(textSizes []byte, texts string, valueSizes, values, body []byte) (*Decoder, error) {
	d := &Decoder{body: body}
	sizes, err := lengths(textSizes, len(texts))
	if err != nil {
		return nil, fmt.Errorf("texts: %w", err)
	}
	d.texts = make([]string, 0, len(sizes))
	for _, n := range sizes {
		d.texts = append(d.texts, texts[:n])
		texts = texts[n:]
	}
	if sizes, err = lengths(valueSizes, len(values)); err != nil {
		return nil, fmt.Errorf("values: %w", err)
	}
	d.values = make([][]byte, 0, len(sizes))
	for _, n := range sizes {
		d.values = append(d.values, values[:n:n])
		values = values[n:]
	}
	return d, nil
}

// lengths reads a section of sizes that add up to total.
func lengths(section []byte, total int) ([]int, error) {
	d := Decoder{body: section}
	sizes := make([]int, 0, d.Count(1))
	for range cap(sizes) {
		n := d.Int(total)
		total -= n
		sizes = append(sizes, n)
	}
	if err := d.End(); err != nil {
		return nil, err
	}
	if total != 0 {
		return nil, fmt.Errorf("%d bytes belong to nothing", total)
	}
	return sizes, nil
}

// Err is the first fault, nil if there was none so far.
func (d *Decoder) Err() error { return d.err }

// Fail notes a fault that the caller has found in what it read.
func (d *Decoder) Fail(reason string) {
	if d.err == nil {
		d.err = errors.New(reason)
	}
	d.body = nil
}

// End is Err, or says that something is left that no one has read.
func (d *Decoder) End() error {
	if d.err == nil && len(d.body) > 0 {
		d.Fail(fmt.Sprintf("%d bytes are left over", len(d.body)))
	}
	return d.err
}

// Uint reads a number.
func (d *Decoder) Uint() uint64 {
	n, size := binary.Uvarint(d.body)
	if size <= 0 {
		d.Fail("a number is cut off or too large")
		return 0
	}
	d.body = d.body[size:]
	return n
}

// Int reads a number from 0 to most.
func (d *Decoder) Int(most int) int { return d.bounded(d.Uint(), most) }

func (d *Decoder) bounded(n uint64, most int) int {
	if n > uint64(max(most, 0)) {
		d.Fail(fmt.Sprintf("the number %d is larger than %d", n, most))
		return 0
	}
	return int(n)
}

// Bool reads a truth value.
func (d *Decoder) Bool() bool { return d.Int(1) == 1 }

// Text reads a text.
func (d *Decoder) Text() string {
	n := d.Int(math.MaxInt)
	if n >= len(d.texts) {
		d.Fail(fmt.Sprintf("there is no text number %d", n))
	}
	if d.err != nil {
		return ""
	}
	return d.texts[n]
}

// Value reads bytes, which must not be changed.
func (d *Decoder) Value() []byte {
	n := d.Int(math.MaxInt)
	if n > len(d.values) {
		d.Fail(fmt.Sprintf("there is no value number %d", n))
	}
	if d.err != nil || n == 0 {
		return nil
	}
	return d.values[n-1]
}

// Count reads the length of a list, each element of which takes at least the
// given number of bytes.
func (d *Decoder) Count(each int) int {
	n := d.Uint()
	return d.bounded(n, len(d.body)/each)
}

// Len reads the length of a list of which each element takes at least the given
// number of bytes; isNil tells an empty one from nil.
func (d *Decoder) Len(each int) (n int, isNil bool) {
	count := d.Uint()
	n = d.bounded(count, 1+len(d.body)/each)
	if n == 0 {
		return 0, true
	}
	return n - 1, false
}
