package packagemanifest

import (
	"fmt"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
)

// Rules of package files. What breaks them keeps the package out of the catalog.
const (
	RuleForm           catalog.Rule = "package-file-form"
	RuleTwice          catalog.Rule = "package-file-duplicate"
	RuleName           catalog.Rule = "package-file-name"
	RuleChannels       catalog.Rule = "package-file-channels"
	RuleChannelName    catalog.Rule = "package-file-channel-name"
	RuleChannelTwice   catalog.Rule = "package-file-channel-duplicate"
	RuleHead           catalog.Rule = "package-file-head"
	RuleDefaultChannel catalog.Rule = "package-file-default-channel"
)

// checker collects what is wrong with a package file.
type checker struct {
	manifest *Package
	file     bundle.File
	lines    bundle.Lines
	problems catalog.Problems
}

// add notes a broken rule at a field.
func (k *checker) add(rule catalog.Rule, field, message, fix string) {
	k.problems = append(k.problems, catalog.Problem{
		Severity: catalog.Error, Rule: rule, Object: catalog.Object{Schema: catalog.SchemaPackage, Name: k.manifest.PackageName},
		Position: catalog.Position{File: k.file.Name, Line: k.lines.Of(field)}, Message: message, Fix: fix,
	})
}

// check applies the rules, and settles the default channel.
func (k *checker) check() {
	m := k.manifest
	if m.PackageName == "" {
		k.add(RuleName, "packageName", "packageName is empty", "name the package")
	}
	switch {
	case len(m.Channels) == 0:
		k.add(RuleChannels, "channels", "channels is empty", "name at least one channel and the ClusterServiceVersion at its head")
		return
	case len(m.Channels) > maxChannels:
		k.add(RuleChannels, "channels", fmt.Sprintf("there are more than %d channels", maxChannels), "remove some")
		return
	}
	// Return the names of the channels.
	names := map[string]bool{}
	for i, c := range k.manifest.Channels {
		field := fmt.Sprintf("channels[%d]", i)
		if c.Name == "" {
			k.add(RuleChannelName, field, field+" has no name", "name the channel")
		} else if names[c.Name] {
			k.add(RuleChannelTwice, field+".name", fmt.Sprintf("channel %q is there twice", c.Name), "keep one of the two")
		}
		if c.CurrentCSV == "" {
			k.add(RuleHead, field, fmt.Sprintf("channel %q has no currentCSV", c.Name), "name the ClusterServiceVersion at its head")
		}
		names[c.Name] = true
	}
	switch {
	case m.DefaultChannel == "" && len(m.Channels) > 1:
		k.add(RuleDefaultChannel, "defaultChannel", "there are several channels, but defaultChannel is empty", "name one of them")
	case m.DefaultChannel == "":
		m.DefaultChannel = m.Channels[0].Name
	case !names[m.DefaultChannel]:
		k.add(RuleDefaultChannel, "defaultChannel", fmt.Sprintf("the default channel %q is none of the channels", m.DefaultChannel), "name one of them")
	}
}
