package compact

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestRoundTrip(t *testing.T) {
	numbers := []uint64{0, 1, 127, 128, math.MaxUint64}
	texts := []string{"", "a", "", "äöü", "a", strings.Repeat("x", 1000)}
	values := [][]byte{nil, {}, []byte("a"), nil, {0, 255}, []byte("a")}
	lengths := []int{-1, 0, 1, 3} // -1 is nil
	var e Encoder
	for _, n := range numbers {
		e.Uint(n)
	}
	for _, s := range texts {
		e.Text(s)
	}
	for _, v := range values {
		e.Value(v)
	}
	e.Bool(true)
	e.Bool(false)
	for _, n := range lengths {
		e.Len(max(n, 0), n < 0)
		for range n {
			e.Int(7)
		}
	}
	s := e.Sections()
	if len(s.Texts) != 1000+len("aäöü") || len(s.Values) != 3 {
		t.Errorf("%d bytes of texts, %d of values: something is there twice", len(s.Texts), len(s.Values))
	}
	d := must.Value(NewDecoder(s.TextSizes, string(s.Texts), s.ValueSizes, s.Values, s.Body))(t)
	for _, want := range numbers {
		if got := d.Uint(); got != want {
			t.Errorf("number %d, want %d", got, want)
		}
	}
	for _, want := range texts {
		if got := d.Text(); got != want {
			t.Errorf("text %q, want %q", got, want)
		}
	}
	for _, want := range values {
		if got := d.Value(); !bytes.Equal(got, want) || (got == nil) != (want == nil) || cap(got) != len(got) {
			t.Errorf("value %v, want %v", got, want)
		}
	}
	if !d.Bool() || d.Bool() {
		t.Error("truth values are not what they were")
	}
	for _, want := range lengths {
		n, isNil := d.Len(1)
		if isNil != (want < 0) || n != max(want, 0) {
			t.Errorf("length %d, nil %v, want %d", n, isNil, want)
		}
		for range n {
			d.Int(7)
		}
	}
	if err := d.End(); err != nil {
		t.Error(err)
	}
}

// TestFaults reads what is not there, or not so.
func TestFaults(t *testing.T) {
	var e Encoder
	e.Text("a")
	e.Value([]byte("b"))
	e.Int(9)
	good := e.Sections()
	with := func(change func(s *Sections)) Sections {
		s := good
		change(&s)
		return s
	}
	read := func(d *Decoder) {
		d.Text()
		d.Value()
		d.Int(9)
	}
	for name, test := range map[string]struct {
		sections Sections
		read     func(d *Decoder)
		want     string
	}{
		"nothing":                 {good, read, ""},
		"a text too few":          {with(func(s *Sections) { s.TextSizes = []byte{0}; s.Texts = nil }), read, "there is no text number 0"},
		"a value too few":         {with(func(s *Sections) { s.ValueSizes = []byte{0}; s.Values = nil }), read, "there is no value number 1"},
		"a text that is longer":   {with(func(s *Sections) { s.TextSizes = []byte{1, 2} }), read, "texts: the number 2 is larger than 1"},
		"text that is left over":  {with(func(s *Sections) { s.TextSizes = []byte{1, 0} }), read, "texts: 1 bytes belong to nothing"},
		"sizes that are too many": {with(func(s *Sections) { s.ValueSizes = []byte{200, 1, 1} }), read, "values: the number 200 is larger than 1"},
		"sizes that are left":     {with(func(s *Sections) { s.ValueSizes = []byte{1, 1, 1} }), read, "values: 1 bytes are left over"},
		"a body cut off":          {with(func(s *Sections) { s.Body = s.Body[:2] }), read, "a number is cut off"},
		"a number too long":       {with(func(s *Sections) { s.Body = bytes.Repeat([]byte{255}, 20) }), read, "a number is cut off or too large"},
		"a number too large":      {good, func(d *Decoder) { d.Uint(); d.Uint(); d.Int(8) }, "the number 9 is larger than 8"},
		"a body that is longer":   {good, func(d *Decoder) { d.Uint() }, "2 bytes are left over"},
		"a list that is longer":   {with(func(s *Sections) { s.Body = []byte{3, 1, 1} }), func(d *Decoder) { d.Count(1) }, "the number 3 is larger than 2"},
		"a list of large ones":    {with(func(s *Sections) { s.Body = []byte{2, 1, 1} }), func(d *Decoder) { d.Count(2) }, "the number 2 is larger than 1"},
		"a list that may be nil":  {with(func(s *Sections) { s.Body = []byte{4, 1, 1} }), func(d *Decoder) { d.Len(1) }, "the number 4 is larger than 3"},
		"a truth value":           {with(func(s *Sections) { s.Body = []byte{2} }), func(d *Decoder) { d.Bool() }, "the number 2 is larger than 1"},
		"the first of two faults": {good, func(d *Decoder) { d.Fail("first"); d.Fail("second"); d.Text() }, "first"},
	} {
		t.Run(name, func(t *testing.T) {
			s := test.sections
			d, err := NewDecoder(s.TextSizes, string(s.Texts), s.ValueSizes, s.Values, s.Body)
			if err == nil {
				test.read(d)
				err = d.End()
			}
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %s", err, test.want)
			}
			if d != nil && err != nil && (d.Text() != "" || d.Value() != nil || d.Uint() != 0 || d.Err() == nil) {
				t.Error("something is read after a fault")
			}
		})
	}
}
