package golden

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/test/must"
)

// statesComment begins an archive of states.
const statesComment = "What the controller reports in each state that its tests lead an object to, without times. go test -update writes it; test/gitops judges it.\n"

// States compares what a controller reports of the objects of a kind, by the name of the state that each is in, with an archive of testdata. The archive
// has of each object what verdicts on it depend on: how it is identified, its generation, and of its status all but times, names and numbers.
func States(t *testing.T, file, apiVersion, kind string, states map[string]any) {
	t.Helper()
	var files []txtar.File
	for _, name := range slices.Sorted(maps.Keys(states)) {
		var object struct {
			Metadata struct {
				Generation int64             `json:"generation,omitempty"`
				Labels     map[string]string `json:"labels,omitempty"`
			} `json:"metadata"`
			Status map[string]any `json:"status"`
		}
		must.NoError(t, json.Unmarshal(must.Value(json.Marshal(states[name]))(t), &object))
		data := must.Value(yaml.Marshal(map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": object.Metadata, "status": judgedBy(object.Status)}))(t)
		files = append(files, txtar.File{Name: name, Data: data})
	}
	if _, err := os.Stat(file); os.IsNotExist(err) && *update {
		must.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.NoError(t, os.WriteFile(file, []byte(statesComment), 0o644))
	}
	Read(t, file).Compare(t, files)
}

// judgedBy is what of a status verdicts depend on.
func judgedBy(status map[string]any) map[string]any {
	kept := func(from map[string]any, fields ...string) map[string]any {
		out := map[string]any{}
		for _, field := range fields {
			if value, ok := from[field]; ok {
				out[field] = value
			}
		}
		return out
	}
	out := kept(status, "observedGeneration", "phase", "reason", "message", "state")
	conditions, _ := status["conditions"].([]any)
	var all []any
	for _, c := range conditions {
		all = append(all, kept(c.(map[string]any), "type", "status", "phase", "reason", "message", "observedGeneration"))
	}
	if len(all) > 0 {
		out["conditions"] = all
	}
	return out
}

// State is an object of a kind in one of the states that the tests of its controller lead it to.
type State struct {
	Kind, Name string
	Object     map[string]any
}

// AllStates reads the states of all archives of States below a directory.
func AllStates(t *testing.T, dir string) []State {
	t.Helper()
	files := must.Value(filepath.Glob(filepath.Join(dir, "*", "testdata", "*.txtar")))(t)
	var all []State
	for _, file := range files {
		archive := Read(t, file)
		if string(archive.Comment) != statesComment {
			continue
		}
		for _, f := range archive.Files {
			s := State{Name: f.Name}
			must.NoError(t, yaml.Unmarshal(f.Data, &s.Object))
			s.Kind, _ = s.Object["kind"].(string)
			all = append(all, s)
		}
	}
	return all
}
