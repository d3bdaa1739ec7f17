package plan

import (
	"encoding/json"
	"fmt"
)

// Text is the record as JSON with at most so many bytes. Where it would be longer, parts of it are left out and named in its place: first what
// is held back, which its Subscriptions say as well, then what was decided on.
func (r Record) Text(most int) (string, error) {
	for _, part := range []struct {
		name string
		drop func()
	}{
		{"", func() {}},
		{"outcome.held", func() { r.Outcome.Held = nil }},
		{"installed", func() { r.Installed = nil }},
		{"requests", func() { r.Requests = nil }},
		{"catalogs", func() { r.Catalogs = nil }},
		{"outcome", func() { r.Outcome = Outcome{} }},
	} {
		if part.drop(); part.name != "" {
			r.Omitted = append(r.Omitted[:len(r.Omitted):len(r.Omitted)], part.name)
		}
		text, err := json.Marshal(r)
		if err != nil {
			return "", fmt.Errorf("write down the decision for namespace %s: %w", r.Namespace, err)
		}
		if len(text) <= most {
			return string(text), nil
		}
	}
	return "", fmt.Errorf("the decision for namespace %s cannot be written down in %d bytes", r.Namespace, most)
}

// complete tells what keeps a decision from being made again.
func (r Record) complete() error {
	for _, part := range r.Omitted {
		switch part {
		case "installed", "requests", "catalogs":
			return fmt.Errorf("the record leaves out %v, because it would have been too long", r.Omitted)
		}
	}
	return nil
}
