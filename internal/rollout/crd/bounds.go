package crd

import "fmt"

// boundChecks are those of the limits of numbers, texts, lists and maps. Giving a limit up lets more in, and breaks nothing.
var boundChecks = []propertyCheck{
	upper(Maximum, func(p *props) **float64 { return &p.Maximum }),
	upper(MaxItems, func(p *props) **int64 { return &p.MaxItems }),
	upper(MaxLength, func(p *props) **int64 { return &p.MaxLength }),
	upper(MaxProperties, func(p *props) **int64 { return &p.MaxProperties }),
	lower(Minimum, func(p *props) **float64 { return &p.Minimum }),
	lower(MinItems, func(p *props) **int64 { return &p.MinItems }),
	lower(MinLength, func(p *props) **int64 { return &p.MinLength }),
	lower(MinProperties, func(p *props) **int64 { return &p.MinProperties }),
}

type number interface{ float64 | int64 }

func upper[N number](name Check, field func(*props) **N) propertyCheck {
	return bound(name, field, "lowered", func(old, new N) bool { return new < old }, "do not lower "+string(name))
}

func lower[N number](name Check, field func(*props) **N) propertyCheck {
	return bound(name, field, "raised", func(old, new N) bool { return new > old }, "do not raise "+string(name))
}

func bound[N number](name Check, field func(*props) **N, verb string, tighter func(old, new N) bool, remedy string) propertyCheck {
	changed := func(old, new *props) string {
		before, after := *field(old), *field(new)
		switch {
		case after == nil:
			return ""
		case before == nil:
			return fmt.Sprintf("%s constraint %v added where there was none", name, *after)
		case tighter(*before, *after):
			return fmt.Sprintf("%s %s from %v to %v", name, verb, *before, *after)
		}
		return ""
	}
	return propertyCheck{name: name, changed: changed, clear: func(p *props) { *field(p) = nil }, remedy: remedy}
}
