package diff

import (
	"fairlead.dev/fairlead/catalog"
)

func otherName(m *catalog.Meta) string {
	if m.Name == "" {
		return m.Schema
	}
	return m.Schema + " " + m.Name
}

// withoutCommon leaves out of two lists what is in both, as often as it is.
func withoutCommon(old, now []*catalog.Meta) (a, b []*catalog.Meta) {
	count := map[string]int{}
	for _, m := range now {
		count[string(m.Blob)]++
	}
	common := map[string]int{}
	for _, m := range old {
		if count[string(m.Blob)] > common[string(m.Blob)] {
			common[string(m.Blob)]++
		} else {
			a = append(a, m)
		}
	}
	for _, m := range now {
		if common[string(m.Blob)] > 0 {
			common[string(m.Blob)]--
		} else {
			b = append(b, m)
		}
	}
	return a, b
}
