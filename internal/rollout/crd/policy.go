package crd

import "strings"

// Exemption lets changes pass that a check would stop. Empty fields exempt whatever they could name.
type Exemption struct {
	CRD   string
	Check Check
	// Path exempts a property and all that it holds.
	Path string
	// Reason is for those who read the report.
	Reason string
}

func (e Exemption) covers(f Finding) bool {
	return (e.CRD == "" || e.CRD == f.CRD) && (e.Check == "" || e.Check == f.Check) && (e.Path == "" || isPart(f.Path, e.Path))
}

// isPart tells whether a path is another or leads into it.
func isPart(path, whole string) bool {
	rest, found := strings.CutPrefix(path, whole)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Policy is how strictly upgrades are checked. The zero value is the strictest.
type Policy struct {
	// None switches all checks off.
	None bool
	// Exemptions let single changes pass; what they let pass is reported nevertheless.
	Exemptions []Exemption
}

// Exempt marks the findings that an exemption covers, as Safety does with its own.
func (p Policy) Exempt(findings []Finding) []Finding { return p.exempt(findings) }

// exempt marks the findings that an exemption covers.
func (p Policy) exempt(findings []Finding) []Finding {
	for i := range findings {
		for _, e := range p.Exemptions {
			if e.covers(findings[i]) {
				findings[i].Exempt = "exempted"
				if e.Reason != "" {
					findings[i].Exempt += ": " + short(e.Reason)
				}
				break
			}
		}
	}
	return findings
}
