package compact

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
)

// Sections are the parts of what was written, to be stored side by side.
type Sections struct {
	TextSizes  []byte // the number of texts, then the length of each
	Texts      []byte // one after the other
	ValueSizes []byte // the same of values
	Values     []byte
	Body       []byte
}

// Encoder collects what is to be written. Its zero value is ready for use.
type Encoder struct {
	body   []byte
	texts  table
	values valueTable
}

// Reserve makes room for so many bytes of texts and of values, so that what is
// written is not copied while it grows.
func (e *Encoder) Reserve(texts, values int) {
	e.texts.data = make([]byte, 0, texts)
	e.values.data = make([]byte, 0, values)
}

// table numbers different texts in the order they first occur.
type table struct {
	ids   map[string]uint64
	sizes []byte
	data  []byte
}

func (t *table) id(text string) uint64 {
	id, ok := t.ids[text]
	if !ok {
		if t.ids == nil {
			t.ids = map[string]uint64{}
		}
		id = uint64(len(t.ids))
		t.ids[text] = id
		t.sizes = binary.AppendUvarint(t.sizes, uint64(len(text)))
		t.data = append(t.data, text...)
	}
	return id
}

func (t *table) count() []byte {
	return append(binary.AppendUvarint(nil, uint64(len(t.ids))), t.sizes...)
}

// valueTable numbers different values. It finds those it has by their hashes,
// and so keeps no value twice.
type valueTable struct {
	seed  maphash.Seed
	known map[uint64]value
	next  uint64
	sizes []byte
	data  []byte
}

// value is where a value stands in data.
type value struct {
	id       uint64
	from, to int
}

func (t *valueTable) id(data []byte) uint64 {
	if t.known == nil {
		t.seed, t.known = maphash.MakeSeed(), map[uint64]value{}
	}
	sum := maphash.Bytes(t.seed, data)
	if v, ok := t.known[sum]; ok && bytes.Equal(t.data[v.from:v.to], data) {
		return v.id
	}
	v := value{id: t.next, from: len(t.data), to: len(t.data) + len(data)}
	t.known[sum] = v
	t.next++
	t.sizes = binary.AppendUvarint(t.sizes, uint64(len(data)))
	t.data = append(t.data, data...)
	return v.id
}

func (t *valueTable) count() []byte {
	return append(binary.AppendUvarint(nil, t.next), t.sizes...)
}

// Uint writes a number.
func (e *Encoder) Uint(n uint64) { e.body = binary.AppendUvarint(e.body, n) }

// Int writes a number that is never negative, such as a length.
func (e *Encoder) Int(n int) { e.Uint(uint64(n)) }

// Bool writes a truth value.
func (e *Encoder) Bool(b bool) {
	var n uint64
	if b {
		n = 1
	}
	e.Uint(n)
}

// Text writes a text.
func (e *Encoder) Text(s string) { e.Uint(e.texts.id(s)) }

// Value writes bytes, and tells none from nil.
func (e *Encoder) Value(b []byte) {
	if b == nil {
		e.Uint(0)
		return
	}
	e.Uint(1 + e.values.id(b))
}

// Len writes the length of a list, and tells an empty one from nil.
func (e *Encoder) Len(n int, isNil bool) {
	if isNil {
		e.Uint(0)
		return
	}
	e.Int(n + 1)
}

// Sections are what was written so far.
func (e *Encoder) Sections() Sections {
	return Sections{
		TextSizes: e.texts.count(), Texts: e.texts.data,
		ValueSizes: e.values.count(), Values: e.values.data,
		Body: e.body,
	}
}
