package resolution

import (
	"encoding/json"
	"fmt"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
)

// Change is what becomes of an extension.
type Change string

const (
	// ChangeInstall is the first installation.
	ChangeInstall Change = "install"
	// ChangeUpgrade leads to a higher version, or to another bundle of the same.
	ChangeUpgrade Change = "upgrade"
	// ChangeDowngrade leads to a lower version.
	ChangeDowngrade Change = "downgrade"
	// ChangeStay keeps the installed bundle, which is the best that the catalogs have to offer.
	ChangeStay Change = "stay"
	// ChangeKeep keeps the installed bundle because no catalog is selected that could offer anything, or because what could have offered it cannot be
	// used. Result.Bundle is nil then.
	ChangeKeep Change = "keep"
	// ChangeNone is decided when there is no answer.
	ChangeNone Change = ""
)

// ExtensionResult is a decision, and what it was made of.
type ExtensionResult struct {
	Change Change
	// Bundle is what to have; nil when there is no answer, or nothing but what is installed.
	Bundle *catalog.BundleInfo
	// Catalog is where it comes from, and Channels are those of the requested channels that it is in.
	Catalog  string
	Channels []string
	// Held is the newest version that is wanted and cannot be had now, if there is one.
	Held *Held
	// Missing is what other extensions would have to install so that the most wanted version could be had; none when nothing is missing, or
	// when that would not help.
	Missing []Missing
	// Deprecation is what the catalog says about the package.
	Deprecation *Deprecation
	// MaxOpenShiftVersion is the last minor version of OpenShift that the bundle supports; empty when it does not say.
	MaxOpenShiftVersion string
	// LeftOut says what cannot be used and could have changed the answer: catalogs that were never read, and content that breaks a rule. The
	// texts are the same for as long as the same is left out.
	LeftOut []string
	// Notes are worth knowing and need no action. What is left out is among them.
	Notes []string
	// Candidates are all versions of the package in the selected catalogs, the most wanted first.
	Candidates []Candidate
	// Record is what the decision was made on, and its outcome.
	Record ExtensionRecord
}

// Candidate is a version of the package in a catalog. It can be had when nothing refuses it.
type Candidate struct {
	Name       string   `json:"name"`
	Version    string   `json:"version"`
	Catalog    string   `json:"catalog"`
	Channels   []string `json:"channels"`
	Deprecated bool     `json:"deprecated,omitempty"`
	Refused    []string `json:"refused,omitempty"`
}

// Deprecation is what a catalog says about a package and what is followed or installed of it. What is empty is not deprecated.
type Deprecation struct {
	Catalog string `json:"catalog"`
	Package string `json:"package,omitempty"`
	// Channels are the messages about the channels that are followed, by name.
	Channels map[string]string `json:"channels,omitempty"`
	// Installed and Chosen are the messages about the bundle that is installed, and about the one to have.
	Installed string `json:"installed,omitempty"`
	Chosen    string `json:"chosen,omitempty"`
	// Lifecycle says how long versions of the package are supported, and Unreadable what of that cannot be read.
	Lifecycle  catalog.Lifecycle `json:"-"`
	Unreadable error             `json:"-"`
}

// answer describes what becomes of an extension with a candidate; nil is no answer.
func (b *extensionFront) answer(chosen *candidate) *ExtensionResult {
	out := make([]Candidate, len(b.candidates))
	for i, c := range b.candidates {
		out[i] = Candidate{Name: c.bundle.Name, Version: c.bundle.WrittenVersion(), Catalog: c.catalog.Name, Channels: c.all, Deprecated: c.deprecated()}
		for _, why := range c.refusals {
			out[i].Refused = append(out[i].Refused, why.origin.Text)
		}
	}
	r := &ExtensionResult{Candidates: out, Deprecation: b.deprecation(chosen), Missing: b.candidates.missing()}
	if chosen == nil {
		return r
	}
	r.Change, r.Bundle, r.Catalog, r.Channels = ChangeInstall, chosen.bundle, chosen.catalog.Name, chosen.channels
	if b.in.Installed != nil {
		switch order := chosen.version.Compare(catalog.Released(b.in.Installed.Version)); {
		case order < 0:
			r.Change = ChangeDowngrade
		case order == 0 && b.isInstalled(chosen):
			r.Change = ChangeStay
		default:
			r.Change = ChangeUpgrade
		}
	}
	r.MaxOpenShiftVersion = maxOpenShift(chosen.bundle)
	if r.MaxOpenShiftVersion != "" {
		r.Notes = append(r.Notes, fmt.Sprintf("bundle %s supports OpenShift up to %s: while it is installed, the cluster cannot be updated to a later minor version",
			chosen.bundle.Name, r.MaxOpenShiftVersion))
	}
	b.leave(r, chosen)
	if !b.trial {
		r.Held = b.held(chosen)
	}
	return r
}

// deprecation tells what the catalog of the chosen candidate says or, without one, the first catalog that has the package.
func (b *extensionFront) deprecation(chosen *candidate) *Deprecation {
	var source *Catalog
	for _, c := range b.catalogs {
		if _, ok := b.packageOf(c); ok {
			source = c
			break
		}
	}
	if chosen != nil {
		source = chosen.catalog
	}
	if source == nil {
		return nil
	}
	p, _ := b.packageOf(source)
	d := &Deprecation{Catalog: source.Name, Package: p.Deprecation}
	for _, c := range p.Channels {
		if c.Deprecation != "" && b.follows(c.Name) {
			if d.Channels == nil {
				d.Channels = map[string]string{}
			}
			d.Channels[c.Name] = c.Deprecation
		}
	}
	if b.in.Installed != nil {
		if bundle, ok := source.Index.BundleV1(p.Name, b.in.Installed.Name); ok {
			d.Installed = bundle.Deprecation
		}
	}
	if chosen != nil {
		d.Chosen = chosen.bundle.Deprecation
	}
	d.Lifecycle, d.Unreadable = source.Index.Lifecycle(p.Name)
	return d
}

// maxOpenShift reads olm.maxOpenShiftVersion, which people write as a string and as a number.
func maxOpenShift(bundle *catalog.BundleInfo) string {
	const property = "olm.maxOpenShiftVersion"
	for _, p := range bundle.Properties {
		if p.Type != property {
			continue
		}
		var text string
		if json.Unmarshal(p.Value, &text) == nil {
			return text
		}
		var number json.Number
		if json.Unmarshal(p.Value, &number) == nil {
			return number.String()
		}
	}
	return ""
}

// held is the most wanted candidate newer than the chosen one that neither the channels nor the range of the user rule out. One that
// lacks nothing but an edge is told of where edges lead to it, or where nothing else is in the way.
func (b *extensionFront) held(chosen *candidate) *Held {
	way := route{b.candidates, b.in.Installed, b.name}
	var unreached *candidate
	var later map[*candidate]int
	var ways map[*candidate]*candidate
	for _, c := range b.candidates {
		if c == chosen {
			break
		}
		why := c.refusal()
		if why == nil || why.rule < ruleEdge || c.version.Compare(chosen.version) <= 0 {
			continue
		}
		if why.rule > ruleEdge {
			return heldAt(chosen, c, why.origin.Text, why.origin.Hint)
		}
		if later == nil {
			later, ways = way.follow(chosen), way.ways()
		}
		switch {
		case later[c] > 0:
			h := heldAt(chosen, c, fmt.Sprintf("no upgrade edge leads from the installed %s straight to %s: the next step is %s, and the edges lead on from there, %s later",
				b.in.Installed.Name, c.bundle.Name, chosen.bundle.Name, safetext.Count(later[c], "upgrade")), "")
			h.Upgrades, h.Object, h.Field = later[c], "", ""
			return h
		case ways[c] != nil:
			return heldAt(chosen, c, why.origin.Text, fmt.Sprintf("to come to %s, %s", c.bundle.Name, way.stops(c, ways)))
		case unreached == nil:
			unreached = c
		}
	}
	if unreached == nil {
		return nil
	}
	return heldAt(chosen, unreached, unreached.refusal().origin.Text, askAuthors(b.name, chosen.bundle.Name))
}

func heldAt(chosen, wanted *candidate, reason, advice string) *Held {
	return &Held{Wanted: wanted.bundle.Name, Instead: chosen.bundle.Name, Catalog: wanted.catalog.Name, Reason: reason, Advice: advice,
		Object: wanted.refusal().origin.Object, Field: wanted.refusal().origin.Field}
}
