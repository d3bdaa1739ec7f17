package packagemanifest

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// TestRules breaks the rules of package files, several at once: all of it is found, each in its line.
func TestRules(t *testing.T) {
	tests := map[string]struct {
		text string
		want []string // rule line: part of the message
	}{
		"no name":                    {"channels: [{name: c, currentCSV: p.v1.0.0}]\npackageName: ''", []string{"package-file-name 2: packageName is empty"}},
		"no channels":                {"packageName: p\nchannels: []", []string{"package-file-channels 2: channels is empty"}},
		"channels that are misspelt": {"packageName: p\nchanels: [{name: c}]", []string{"package-file-channels 1: channels is empty"}},
		"too many channels":          {"packageName: p\nchannels:\n" + strings.Repeat("- {}\n", maxChannels+1), []string{"package-file-channels 2: more than 1000 channels"}},
		"no default of several": {"packageName: p\nchannels:\n- {name: a, currentCSV: p.v1.0.0}\n- {name: b, currentCSV: p.v1.0.0}",
			[]string{"package-file-default-channel 1: defaultChannel is empty"}},
		"an unknown default": {"packageName: p\nchannels: [{name: a, currentCSV: p.v1.0.0}]\ndefaultChannel: b",
			[]string{`package-file-default-channel 3: the default channel "b" is none of the channels`}},
		"an array for a name":    {"channels: [{name: c, currentCSV: p.v1.0.0}]\npackageName: [p]", []string{"package-file-form 2: packageName is of the wrong type: array"}},
		"a mapping for channels": {"packageName: p\nchannels: {a: x}", []string{"package-file-form 2: channels is of the wrong type: object"}},
		"a number for a channel": {"packageName: p\nchannels:\n- name: 1\n  currentCSV: p.v1.0.0", []string{"package-file-form 2: channels.name is of the wrong type: number"}},
		"heads that are not there": {"packageName: p\ndefaultChannel: a\nchannels:\n- {name: a, currentCSV: p.v3}\n- {name: b, currentCSV: p.v1.0.0}\n- {name: c, currentCSV: p.v4}",
			[]string{
				"package-file-head 4: the head of channel a, p.v3, is not there; there are p.v1.0.0, p.v1.1.0",
				"package-file-head 6: the head of channel c, p.v4, is not there",
			}},
		"all at once": {"packageName: ''\nchannels:\n- currentCSV: x\n- name: a\n- {name: a, currentCSV: other}\ndefaultChannel: z", []string{
			"package-file-name 1: packageName is empty",
			"package-file-channel-name 3: channels[0] has no name",
			`package-file-head 4: channel "a" has no currentCSV`,
			`package-file-channel-duplicate 5: channel "a" is there twice`,
			`package-file-default-channel 6: the default channel "z" is none of the channels`,
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			files := nested()
			files["p.package.yaml"] = test.text
			checkProblems(t, files, test.want)
		})
	}
}

func checkProblems(t *testing.T, files map[string]string, want []string) {
	t.Helper()
	c, _, err := Convert(t.Context(), tree(files))
	var invalid *catalog.InvalidError
	if !errors.As(err, &invalid) || c == nil || len(c.Packages)+len(c.Channels)+len(c.Bundles) > 0 {
		t.Fatalf("catalog %v, error %v", c, err)
	}
	var got []string
	for i, p := range invalid.Problems {
		line := fmt.Sprintf("%s %d: %s", p.Rule, p.Position.Line, p.Message)
		if i < len(want) {
			rule, part, _ := strings.Cut(want[i], ": ")
			if strings.HasPrefix(line, rule+": ") && strings.Contains(p.Message, part) {
				line = want[i]
			}
		}
		got = append(got, line)
		if p.Fix == "" || p.Severity != catalog.Error || p.Object.Schema != catalog.SchemaPackage {
			t.Errorf("problem without fix, of another severity or about nothing: %+v", p)
		}
	}
	must.Equal(t, "problems", got, want)
	must.Equal(t, "validation does not find them", catalog.Validate(c), invalid.Problems)
}

func TestTwoPackageFiles(t *testing.T) {
	files := nested()
	files["q.package.yaml"] = files["p.package.yaml"]
	checkProblems(t, files, []string{"package-file-duplicate 0: it is a package file, and p.package.yaml is one, too"})
}

// TestOneBrokenPackageOfSeveral keeps the others.
func TestOneBrokenPackageOfSeveral(t *testing.T) {
	files := map[string]string{"b/b.package.yaml": "packageName: b\nchannels: []\n"}
	maps.Copy(files, map[string]string{
		"a/a.package.yaml": "packageName: a\nchannels: [{name: c, currentCSV: a.v1}]\n", "a/1/csv.yaml": manifestCSV("a.v1", "1.0.0", ""),
	})
	c, _, err := Convert(t.Context(), tree(files))
	var invalid *catalog.InvalidError
	if !errors.As(err, &invalid) || len(invalid.Problems) != 1 || len(c.Packages) != 1 || c.Packages[0].Name != "a" || len(c.Bundles) != 1 {
		t.Errorf("%s, error %v", summary(t, c), err)
	}
}
