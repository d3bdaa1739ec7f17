package docs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/internal/cli"
	"fairlead.dev/fairlead/test/must"
)

// actionFile is the part of a composite action that is checked.
type actionFile struct {
	Name, Description string
	Inputs            map[string]struct {
		Description string
		Required    bool
		Default     *string
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []struct {
			Name, ID, If, Shell, Run, Uses string
			With, Env                      map[string]string
		}
	}
}

func readAction(t *testing.T) (actionFile, string) {
	t.Helper()
	content := must.Value(os.ReadFile(filepath.Join(root, "action", "catalog-test", "action.yml")))(t)
	var action actionFile
	must.NoError(t, yaml.UnmarshalStrict(content, &action, yaml.DisallowUnknownFields))
	return action, string(content)
}

// TestActionIsWhole: what the action refers to is there, and what it has is used.
func TestActionIsWhole(t *testing.T) {
	action, content := readAction(t)
	must.Equal(t, "kind", action.Runs.Using, "composite")
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`inputs\.([a-z-]+)`).FindAllStringSubmatch(content, -1) {
		used[m[1]] = true
		if _, ok := action.Inputs[m[1]]; !ok {
			t.Errorf("it uses the input %s, which it does not have", m[1])
		}
	}
	for name, input := range action.Inputs {
		if !used[name] || input.Description == "" || input.Required == (input.Default != nil) {
			t.Errorf("input %s: used %t, %+v", name, used[name], input)
		}
	}
	script := string(must.Value(os.ReadFile(filepath.Join(root, "action", "catalog-test", "test.sh")))(t))
	for _, step := range action.Runs.Steps {
		if (step.Run == "") == (step.Uses == "") || step.Name == "" || step.Run != "" && step.Shell != "bash" {
			t.Errorf("step %+v", step)
		}
		if strings.Contains(step.Run, "${{") {
			t.Errorf("step %s: an input becomes a part of a command: %s", step.Name, step.Run)
		}
		if step.Uses != "" && !regexp.MustCompile(`^(actions|github)/[a-z/-]+@v\d+$`).MatchString(step.Uses) {
			t.Errorf("step %s uses %s", step.Name, step.Uses)
		}
		for variable := range step.Env {
			if !strings.Contains(step.Run+script, "$"+variable) && !strings.Contains(script, "{"+variable+":-") {
				t.Errorf("step %s: no command reads %s", step.Name, variable)
			}
		}
	}
	for name, output := range action.Outputs {
		if output.Description == "" || !strings.HasPrefix(output.Value, "${{ inputs.reports }}/report.") && output.Value != "${{ steps.test.outputs.exit-code }}" {
			t.Errorf("output %s: %+v", name, output)
		}
	}
}

// runAction runs the script of the action with a program that notes its arguments, writes a report where it is asked to and ends with a code.
func runAction(t *testing.T, code string, env map[string]string) (arguments []string, output, summary string) {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("this machine has no bash, with which the action runs")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "fairlead")
	must.NoError(t, os.WriteFile(program, []byte("#!/usr/bin/env bash\nprintf '%s\\n' \"$@\" >arguments\nwhile [ $# -gt 0 ]; do case $1 in --report) echo \"report $2\" >\"$2\";; esac; shift; done\nexit "+code+"\n"), 0o700))
	cmd := exec.CommandContext(t.Context(), "bash", must.Value(filepath.Abs(filepath.Join(root, "action", "catalog-test", "test.sh")))(t))
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "RUNNER_TEMP=" + dir, "GITHUB_OUTPUT=" + filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY=" + filepath.Join(dir, "summary")}
	action, _ := readAction(t)
	for _, step := range action.Runs.Steps {
		for variable, value := range step.Env {
			if step.ID == "test" { // as GitHub does: the default, unless the workflow says otherwise
				input := strings.TrimSuffix(strings.TrimPrefix(value, "${{ inputs."), " }}")
				text := env[input]
				if given := action.Inputs[input].Default; text == "" && given != nil {
					text = *given
				}
				cmd.Env = append(cmd.Env, variable+"="+text)
			}
		}
	}
	printed, err := cmd.CombinedOutput()
	must.NoErrorf(t, err, "%s", printed)
	read := func(name string) string { return string(must.Value(os.ReadFile(filepath.Join(dir, name)))(t)) }
	return strings.Split(strings.TrimSpace(read("arguments")), "\n"), read("output"), read("summary")
}

func TestActionRunsTheTest(t *testing.T) {
	reports := []string{"--report", "catalog-test/report.xml", "--report", "catalog-test/report.sarif", "--report", "catalog-test/report.json", "--report", "catalog-test/report.md"}
	arguments, output, summary := runAction(t, "0", map[string]string{"catalog": "./catalog"})
	must.Equal(t, "arguments", arguments, slices.Concat([]string{"catalog", "test", "--catalog", "./catalog"}, reports, []string{"--"}))
	must.Equal(t, "output", output, "exit-code=0\nreported=true\n")
	must.Equal(t, "summary", summary, "report catalog-test/report.md\n")

	hostile := "$(touch pwned); echo"
	arguments, output, _ = runAction(t, "3", map[string]string{"catalog": hostile, "packages": "a --api " + hostile, "bundles": "my bundles", "api": "v1", "parallel": "2", "check-images": "true"})
	must.Equal(t, "arguments", arguments, slices.Concat([]string{"catalog", "test", "--catalog", hostile, "--bundles", "my bundles", "--api", "v1", "--parallel", "2", "--check-images"}, reports,
		[]string{"--", "a", "--api", "$(touch", "pwned);", "echo"}))
	must.Equal(t, "output", output, "exit-code=3\nreported=true\n")
}

// TestCommandHasTheFlags: the action, and the page that it is described on, name flags that the command has.
func TestCommandHasTheFlags(t *testing.T) {
	var help bytes.Buffer
	if code := cli.Run(t.Context(), []string{"catalog", "test", "--help"}, strings.NewReader(""), &help, &help); code != 0 {
		t.Fatalf("exit code %d: %s", code, help.String())
	}
	arguments, _, _ := runAction(t, "0", map[string]string{"catalog": "c", "packages": "a", "bundles": "b", "api": "v1", "parallel": "2", "check-images": "true"})
	page := string(must.Value(os.ReadFile(filepath.Join(root, "docs", "catalog-test.md")))(t))
	flags := regexp.MustCompile("`?(--[a-z][a-z-]*)").FindAllStringSubmatch(strings.Join(arguments, " ")+page, -1)
	if len(flags) < 15 {
		t.Fatalf("found only %v", flags)
	}
	for _, flag := range flags {
		if !regexp.MustCompile(`(^|\s)` + flag[1] + `\s`).MatchString(help.String()) {
			t.Errorf("fairlead catalog test has no flag %s", flag[1])
		}
	}
}
