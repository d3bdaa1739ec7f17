package revision

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// TestMemory holds what was used last, within its limit, and nothing of another version or of another set.
func TestMemory(t *testing.T) {
	var m Memory
	at := func(set string, i int) place {
		return place{types.UID(set), types.NamespacedName{Namespace: "olm", Name: "s"}, fmt.Sprint(i)}
	}
	const part = maxRemembered / 10
	for i := range 30 {
		m.put(at("a", i), "1", make([]byte, part))
		if _, ok := m.get(at("a", 0), "1"); !ok {
			t.Fatal("what is used all the time is not there")
		}
		if m.size > maxRemembered || m.size != part*len(m.known) || m.order.Len() != len(m.known) {
			t.Fatalf("%d bytes in %d parts (%d in order), of %d", m.size, len(m.known), m.order.Len(), maxRemembered)
		}
	}
	if _, ok := m.get(at("a", 15), "1"); ok {
		t.Error("what was not used for long is there")
	}
	if _, ok := m.get(at("a", 29), "2"); ok {
		t.Error("an older version is taken for the current one")
	}
	if _, ok := m.get(at("b", 29), "1"); ok {
		t.Error("another set has it")
	}
	m.put(at("a", 29), "2", []byte("new"))
	if data, ok := m.get(at("a", 29), "2"); !ok || string(data) != "new" {
		t.Errorf("%q %t", data, ok)
	}
	before := m.size
	m.put(at("c", 1), "1", make([]byte, maxRemembered))
	if _, ok := m.get(at("c", 1), "1"); ok || m.size != before {
		t.Errorf("what is too large takes the place of all else: %d bytes, before %d", m.size, before)
	}
	m.put(at("a", 1), "1", make([]byte, 1))
	m.put(at("b", 1), "1", make([]byte, 1))
	m.Forget("a")
	if _, ok := m.get(at("b", 1), "1"); !ok || m.size != 1 {
		t.Errorf("%d bytes", m.size)
	}
}
