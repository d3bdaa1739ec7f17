package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

const checkedVersion = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: app.v1.0.0
  annotations: {olm.properties: '[{"type": "olm.maxOpenShiftVersion", "value": "4.12"}]'}
spec:
  displayName: App
  minKubeVersion: 1.20.0
  nativeAPIs: [{group: batch, version: v1beta1, kind: CronJob}]
  install: {strategy: deployment}
`

const checkedObjects = `apiVersion: policy/v1beta1
kind: PodDisruptionBudget
metadata: {name: manager}
---
apiVersion: v1
kind: List
items:
- {apiVersion: autoscaling/v2beta2, kind: HorizontalPodAutoscaler, metadata: {name: manager}}
- {apiVersion: v1, kind: Service, metadata: {name: manager}}
`

// check runs fairlead check.
func check(t *testing.T, stdin string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = Run(t.Context(), append([]string{"check"}, args...), strings.NewReader(stdin), &o, &e)
	return code, o.String(), e.String()
}

func TestCheckFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"app.yaml": checkedVersion, "objects.yml": checkedObjects, "README.md": "# not a manifest"} {
		must.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	objects := filepath.Join(dir, "objects.yml")
	bundle := t.TempDir()
	for name, text := range map[string]string{"manifests/app.yaml": checkedVersion, "manifests/objects.yaml": checkedObjects,
		"metadata/annotations.yaml": "annotations: {operators.operatorframework.io.bundle.package.v1: app}\n"} {
		name = filepath.Join(bundle, name)
		must.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)))
	}
	for name, test := range map[string]struct {
		stdin string
		args  []string
		code  int
		out   []string
		errs  string
	}{
		"an old version of Kubernetes": {args: []string{"--kube-version", "1.24", "-f", dir}, code: 0, out: []string{"Nothing stands between 2 operators and Kubernetes 1.24.0."}},
		"a directory": {args: []string{"--kube-version", "v1.26.3", "-f", dir}, code: 2, out: []string{"With Kubernetes 1.26.3, of 2 operators:",
			"ClusterServiceVersion app.v1.0.0\n  MaxOpenShiftVersion: its author knows it to work on OpenShift up to 4.12, and Kubernetes 1.26 is that of OpenShift 4.13",
			"  RemovedAPI: spec.nativeAPIs uses batch/v1beta1 CronJob, which Kubernetes serves no more since 1.25",
			objects + "\n  RemovedAPI: HorizontalPodAutoscaler manager uses autoscaling/v2beta2", "PodDisruptionBudget manager uses policy/v1beta1"}},
		"too old":          {args: []string{"--kube-version", "1.19", "-f", filepath.Join(dir, "app.yaml")}, code: 2, out: []string{"of 1 operator:", "MinKubeVersion: it needs Kubernetes 1.20.0 or later"}},
		"standard input":   {stdin: checkedObjects, args: []string{"--kube-version", "1.25", "-f", "-"}, code: 2, out: []string{"standard input\n  RemovedAPI: PodDisruptionBudget manager"}},
		"no version":       {args: []string{"-f", dir}, code: 1, errs: "name the version"},
		"no minor version": {args: []string{"--kube-version", "1", "-f", dir}, code: 1, errs: `--kube-version: "1" is not a version of Kubernetes`},
		"zero":             {args: []string{"--kube-version", "0", "-f", dir}, code: 1, errs: `"0" is not a version of Kubernetes`},
		"no major version": {args: []string{"--kube-version", "36", "-f", dir}, code: 1, errs: `"36" is not a version of Kubernetes`},
		"OpenShift":        {args: []string{"--kube-version", "4.18", "-f", dir}, code: 1, errs: `"4.18" is not a version of Kubernetes`},
		"a bundle": {args: []string{"--kube-version", "1.25", "-f", bundle}, code: 2, out: []string{"With Kubernetes 1.25.0, of 2 operators:",
			filepath.Join(bundle, "manifests", "objects.yaml") + "\n  RemovedAPI: "}},
		"a bad version": {args: []string{"--kube-version", "next", "-f", dir}, code: 1, errs: `--kube-version: "next" is not a version`},
		"a bad flag":    {args: []string{"--kube"}, code: 1, errs: "unknown flag"},
		"a bad format":  {args: []string{"--kube-version", "1.25", "-o", "xml", "-f", dir}, code: 1, errs: "choose text, json or yaml"},
		"an argument":   {args: []string{"--kube-version", "1.25", "x"}, code: 1, errs: "unknown command"},
		"both":          {args: []string{"--kube-version", "1.25", "-f", dir, "-n", "a"}, code: 1, errs: "give one of them"},
		"one and all":   {args: []string{"--kube-version", "1.25", "-A", "-n", "a"}, code: 1, errs: "give one of them"},
		"no file":       {args: []string{"--kube-version", "1.25", "-f", filepath.Join(dir, "none")}, code: 1, errs: "no such file"},
		"no manifests":  {args: []string{"--kube-version", "1.25", "-f", t.TempDir()}, code: 1, errs: "it has no files that end in"},
		"no YAML":       {stdin: "a: [", args: []string{"--kube-version", "1.25", "-f", "-"}, code: 1, errs: "read objects from standard input"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := check(t, test.stdin, test.args...)
			if code != test.code || !strings.Contains(errs, test.errs) || test.code == 1 && out != "" {
				t.Errorf("exit code %d, output %q, errors %q", code, out, errs)
			}
			for _, part := range test.out {
				contains(t, out, part)
			}
		})
	}
}

func TestCheckForPrograms(t *testing.T) {
	code, out, _ := check(t, checkedObjects, "--kube-version", "1.25", "-o", "json", "-f", "-")
	var report struct {
		KubeVersion string
		Operators   int
		Findings    []struct{ Operator, Rule, Message, Remedy string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != 2 {
		t.Fatalf("exit code %d, %v: %s", code, err, out)
	}
	if report.KubeVersion != "1.25.0" || report.Operators != 1 || len(report.Findings) != 1 || report.Findings[0].Rule != "RemovedAPI" || report.Findings[0].Operator != "standard input" {
		t.Errorf("the report is %+v", report)
	}
	code, out, _ = check(t, checkedObjects, "--kube-version", "1.24", "-o", "json", "-f", "-")
	if code != 0 || !strings.Contains(out, `"findings": []`) {
		t.Errorf("without findings: exit code %d, %s", code, out)
	}
}
