package catalog

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/version"
)

// model is a catalog put in relation: what belongs to what, and what is broken.
// Validate and NewIndex both begin with it, so that they cannot disagree.
type model struct {
	packages map[string]*packageModel
	order    []*packageModel // as in the catalog
	images   map[string]error
	gvks     map[GVK]string // what is wrong with them
	problems Problems
}

// packageModel, like the other models, is broken when it is to be kept out of
// an Index.
type packageModel struct {
	source      *Package
	broken      bool
	channels    map[string]*channelModel
	order       []*channelModel
	bundles     map[string]*bundleModel
	bundleOrder []*bundleModel
	deprecated  *Deprecations
	reasons     map[Reference]string // of what is deprecated
}

type channelModel struct {
	source  *Channel
	broken  bool
	entries map[string]*EntryInfo
	more    []*EntryInfo // beyond the first of a name, also of other channels of this name: they count under v1 alone
	graph   graph
}

// newModel judges the whole catalog.
func newModel(c *Catalog) *model {
	m := &model{packages: map[string]*packageModel{}, images: map[string]error{}, gvks: map[GVK]string{}}
	for i := range c.Packages {
		m.addPackage(&c.Packages[i])
	}
	for i := range c.Channels {
		m.addChannel(&c.Channels[i])
	}
	for i := range c.Bundles {
		m.addBundle(&c.Bundles[i])
	}
	for i := range c.Deprecations {
		m.addDeprecations(&c.Deprecations[i])
	}
	for _, p := range m.order {
		// Apply the rules that need the whole package
		report := func(rule Rule, message, fix string) {
			m.report(Error, rule, Object{Schema: SchemaPackage, Name: p.source.Name}, p.source.Position, message, fix)
		}
		if len(p.channels) == 0 {
			p.broken = true
			report(RulePackageEmpty, "the package has no channel", "add an olm.channel object with package "+safetext.Quote(p.source.Name))
		} else if name := p.source.DefaultChannel; name != "" && p.channels[name] == nil {
			var names []string
			for _, c := range p.order {
				names = append(names, c.source.Name)
			}
			report(RulePackageDefaultChannel, fmt.Sprintf("the default channel %s does not exist", safetext.Quote(name)), "set defaultChannel to one of "+safetext.QuoteList(names)+", or add the channel")
		}
		for _, c := range p.order {
			// Demand that entries have bundles.
			var without []string
			for name := range c.entries {
				if b, ok := p.bundles[name]; ok {
					b.listed = true
				} else {
					without = append(without, name)
				}
			}
			if slices.Sort(without); len(without) > 0 {
				m.report(Error, RuleEntryWithoutBundle, Object{Schema: SchemaChannel, Package: p.source.Name, Name: c.source.Name}, c.source.Position,
					"there is no bundle for the entries "+safetext.QuoteList(without), "add an olm.bundle object of that name, or remove the entry")
			}
		}
		for _, b := range p.bundleOrder {
			if !b.listed {
				m.report(Error, RuleBundleUnlisted, b.object(), b.source.Position, "no channel of the package has an entry for the bundle", "add an entry with this name to a channel, or remove the bundle")
			}
		}
		// Demand that bundles of different names differ in version.
		names := map[string][]string{}
		for _, b := range p.bundleOrder {
			if b.info.VersionText != "" {
				key := b.info.WrittenVersion() // as people know it: two builds of a version differ
				names[key] = append(names[key], b.source.Name)
			}
		}
		for _, b := range p.bundleOrder {
			same := names[b.info.WrittenVersion()]
			if len(same) < 2 || same[0] != b.source.Name {
				continue // the first of them reports it
			}
			m.report(Error, RulePackageDuplicateVersion, Object{Schema: SchemaPackage, Name: p.source.Name}, b.source.Position,
				fmt.Sprintf("the bundles %s all have version %s", safetext.QuoteList(slices.Sorted(slices.Values(same))), b.info.WrittenVersion()),
				"give each bundle a version of its own")
		}
	}
	m.problems = append(m.problems, c.LoadProblems...)
	m.problems.sort()
	return m
}

// Validate checks the catalog against every rule and lists what is broken, in
// the order of file and line.
func Validate(c *Catalog) Problems { return newModel(c).problems }

func (m *model) report(severity Severity, rule Rule, o Object, at Position, message, fix string) {
	m.problems = append(m.problems, Problem{
		Severity: severity, Rule: rule, Object: o, Position: at, Message: message, Fix: fix,
	})
}

// label is what the name of a package must look like, and capitals what it may look like.
var (
	label    = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	capitals = regexp.MustCompile(`^[a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$`)
)

func (m *model) addPackage(p *Package) {
	report := func(rule Rule, message, fix string) {
		m.report(Error, rule, Object{Schema: SchemaPackage, Name: p.Name}, p.Position, message, fix)
	}
	if p.Name == "" {
		report(RulePackageName, "the package has no name", "set name")
		return
	}
	if first, ok := m.packages[p.Name]; ok {
		first.broken = true
		report(RulePackageDuplicate, "the package is already defined"+at(first.source.Position), "keep one of the two")
		return
	}
	added := &packageModel{
		source: p, channels: map[string]*channelModel{}, bundles: map[string]*bundleModel{}, reasons: map[Reference]string{},
	}
	m.packages[p.Name] = added
	m.order = append(m.order, added)
	switch {
	case label.MatchString(p.Name):
	case capitals.MatchString(p.Name): // Subscriptions can name it
		m.report(Warning, RulePackageCapitals, Object{Schema: SchemaPackage, Name: p.Name}, p.Position,
			"the name has capital letters: it can be subscribed to, but no ClusterExtension can name it, and it has no Operator object", "rename the package")
	default:
		added.broken = true
		report(RulePackageName, "the name is not made of at most 63 small letters, digits and dashes, with a letter or digit at both ends", "rename the package")
	}
	// An icon that no browser can show. What its data are is not judged.
	var missing []string
	if p.Icon != nil && len(p.Icon.Data) == 0 {
		missing = append(missing, "no base64data")
	}
	if p.Icon != nil && p.Icon.MediaType == "" {
		missing = append(missing, "no mediatype")
	}
	if len(missing) > 0 {
		m.report(Warning, RulePackageIcon, Object{Schema: SchemaPackage, Name: p.Name}, p.Position, "the icon has "+strings.Join(missing, " and "),
			"set both, such as mediatype: image/svg+xml, or remove the icon")
	}
	if p.DefaultChannel == "" {
		report(RulePackageDefaultChannel, "no default channel is set", "set defaultChannel to the name of a channel of the package")
	}
}

// at says where an object stands, for the end of a sentence.
func at(p Position) string {
	if p == (Position{}) {
		return ""
	}
	return " at " + p.String()
}

// VersionRelease is the version and release of the bundle, read by the rules
// of Validate. The error is an *InvalidError.
func (b *Bundle) VersionRelease() (version.VersionRelease, error) {
	m := &model{images: map[string]error{}, gvks: map[GVK]string{}}
	judged := &bundleModel{source: b, count: map[string]int{}, info: &BundleInfo{}}
	m.checkProperties(judged)
	m.checkVersion(judged)
	return judged.info.Version, m.problems.Err()
}
