package v1alpha1

import (
	"encoding/json"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestOperatorVersionJSON(t *testing.T) {
	for in, want := range map[string]string{
		`"1.2.3"`:          `"1.2.3"`,
		`"v1.2.3"`:         `"1.2.3"`,
		`"1.2"`:            `"1.2.0"`,
		`"v1"`:             `"1.0.0"`,
		`" 1.2.3 "`:        `"1.2.3"`,
		`"01.02.03"`:       `"1.2.3"`,
		`"1.2.3-rc.1+git"`: `"1.2.3-rc.1+git"`,
		`""`:               `"0.0.0"`,
		`null`:             `"0.0.0"`,
	} {
		var v OperatorVersion
		if err := json.Unmarshal([]byte(in), &v); err != nil {
			t.Errorf("%s is not read: %v", in, err)
			continue
		}
		if out, err := json.Marshal(v); err != nil || string(out) != want {
			t.Errorf("%s is written as %s (%v), want %s", in, out, err, want)
		}
	}
	for _, in := range []string{`"latest"`, `"1.2-rc"`, `"1.2.3.4"`, `"-1.2.3"`, `12`, `{}`} {
		var v OperatorVersion
		must.Fail(t, "Unmarshal", json.Unmarshal([]byte(in), &v), "read operator version")
	}
}

func TestOperatorVersionIsReplacedOnDecode(t *testing.T) {
	var v OperatorVersion
	for _, text := range []string{`"1.2.3-rc.1"`, `""`} {
		must.NoError(t, json.Unmarshal([]byte(text), &v))
	}
	must.Equal(t, "after reading nothing the version", v.String(), "0.0.0")
}

func TestOperatorReleaseJSON(t *testing.T) {
	for in, want := range map[string]string{
		`"1"`:     `"1"`,
		`"1.el9"`: `"1.el9"`,
		`"0"`:     `"0"`,
		`"a-b.c"`: `"a-b.c"`,
		`""`:      `""`,
		`null`:    `""`,
	} {
		var r OperatorRelease
		if err := json.Unmarshal([]byte(in), &r); err != nil {
			t.Errorf("%s is not read: %v", in, err)
			continue
		}
		if out, err := json.Marshal(r); err != nil || string(out) != want {
			t.Errorf("%s is written as %s (%v), want %s", in, out, err, want)
		}
	}
	for in, want := range map[string]string{
		`"01"`:                              "segment 0",
		`"a..b"`:                            "segment 1",
		`"a_b"`:                             "segment 0",
		`"` + strings.Repeat("a", 21) + `"`: "exceeds maximum length of 20 characters",
		`1`:                                 "read operator release",
	} {
		var r OperatorRelease
		must.Fail(t, "Unmarshal", json.Unmarshal([]byte(in), &r), want)
	}
}

func TestOperatorReleaseIsLeftOutWhenEmpty(t *testing.T) {
	data := must.Value(json.Marshal(ClusterServiceVersionSpec{}))(t)
	must.Lack(t, "text", string(data), "release")
}

func TestOperatorReleaseCompare(t *testing.T) {
	ordered := []string{"", "1", "2", "10", "10.0", "alpha", "alpha.1", "beta"}
	for i, a := range ordered {
		for j, b := range ordered {
			left, errLeft := ParseOperatorRelease(a)
			right, errRight := ParseOperatorRelease(b)
			if errLeft != nil || errRight != nil {
				t.Fatal(errLeft, errRight)
			}
			if got := left.Compare(right); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%q compared with %q is %d", a, b, got)
			}
		}
	}
}

func FuzzOperatorVersion(f *testing.F) {
	for _, seed := range []string{"1.2.3", "v1", "", "1.2.3-rc.1+b", "01.1", "99999999999999999999.0.0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		in := must.Value(json.Marshal(text))(t)
		var v, again OperatorVersion
		if err := json.Unmarshal(in, &v); err != nil {
			return
		}
		out := must.Value(json.Marshal(v))(t)
		if err := json.Unmarshal(out, &again); err != nil || v.String() != again.String() {
			t.Errorf("%q is written as %s, which is read as %s (%v)", text, out, again, err)
		}
	})
}

func FuzzOperatorRelease(f *testing.F) {
	for _, seed := range []string{"1", "1.el9", "", "01", "a..b", "-"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseOperatorRelease(text)
		if err == nil && r.String() != text {
			t.Errorf("%q is written as %q", text, r)
		}
	})
}
