package gitops

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/test/must"
)

// root is the root of the repository.
var root = filepath.Join("..", "..")

// read is the text of a file of the repository.
func read(t *testing.T, path ...string) string {
	t.Helper()
	return string(must.Value(os.ReadFile(filepath.Join(append([]string{root}, path...)...)))(t))
}

// kstatus is the verdict of the library that Flux, Helm and kpt judge by.
func kstatus(t *testing.T, object map[string]any) string {
	t.Helper()
	result := must.Value(status.Compute(&unstructured.Unstructured{Object: object}))(t)
	return string(result.Status)
}

// argo is the verdict of a health check in Lua, run as Argo CD does: the object is the global obj, and the script returns a table.
func argo(t *testing.T, script string, object map[string]any) string {
	t.Helper()
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	for name, open := range map[string]lua.LGFunction{lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable, lua.StringLibName: lua.OpenString} {
		must.NoError(t, l.CallByParam(lua.P{Fn: l.NewFunction(open), Protect: true}, lua.LString(name)))
	}
	l.SetGlobal("obj", luaOf(l, object))
	must.NoError(t, l.DoString(script))
	table, ok := l.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatalf("the script returns %s", l.Get(-1))
	}
	if message := table.RawGetString("message"); message.Type() != lua.LTString || message.String() == "" {
		t.Errorf("the script gives no message: %s", message)
	}
	return table.RawGetString("status").String()
}

// luaOf is a value of JSON in Lua.
func luaOf(l *lua.LState, value any) lua.LValue {
	switch v := value.(type) {
	case string:
		return lua.LString(v)
	case bool:
		return lua.LBool(v)
	case int64:
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	case []any:
		table := l.NewTable()
		for _, item := range v {
			table.Append(luaOf(l, item))
		}
		return table
	case map[string]any:
		table := l.NewTable()
		for key, item := range v {
			table.RawSetString(key, luaOf(l, item))
		}
		return table
	}
	return lua.LNil
}

// expressions are the health check expressions of Flux for a kind.
type expressions struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	InProgress string `json:"inProgress"`
	Failed     string `json:"failed"`
	Current    string `json:"current"`
}

// shippedExpressions are those of config/gitops/flux, by kind.
func shippedExpressions(t *testing.T) map[string]expressions {
	t.Helper()
	var patch struct {
		Spec struct {
			HealthCheckExprs []expressions `json:"healthCheckExprs"`
		} `json:"spec"`
	}
	must.NoError(t, yaml.Unmarshal([]byte(read(t, "config", "gitops", "flux", "health-checks.yaml")), &patch))
	all := map[string]expressions{}
	for _, e := range patch.Spec.HealthCheckExprs {
		all[e.Kind] = e
	}
	return all
}

// flux is the verdict of health check expressions, in the order in which Flux asks them: the first that is true counts, and none is in progress.
func flux(t *testing.T, e expressions, object map[string]any) string {
	t.Helper()
	object = normalized(object)
	for _, ask := range []struct{ expression, verdict string }{{e.InProgress, "InProgress"}, {e.Failed, "Failed"}, {e.Current, "Current"}} {
		if ask.expression == "" {
			continue
		}
		if holds(t, ask.expression, object) {
			return ask.verdict
		}
	}
	return "InProgress"
}

// normalized is an object with all fields that expressions may name, which Flux declares.
func normalized(object map[string]any) map[string]any {
	out := map[string]any{}
	for _, field := range fields {
		out[field] = object[field]
	}
	return out
}

// fields are what Flux lets an expression name.
var fields = []string{"apiVersion", "kind", "metadata", "spec", "status"}

// programs are the expressions that were compiled.
var programs = map[string]cel.Program{}

func holds(t *testing.T, expression string, object map[string]any) bool {
	t.Helper()
	program, ok := programs[expression]
	if !ok {
		var options []cel.EnvOption
		for _, field := range fields {
			options = append(options, cel.Variable(field, cel.DynType))
		}
		env := must.Value(cel.NewEnv(options...))(t)
		ast, issues := env.Compile(expression)
		if issues.Err() != nil {
			t.Fatalf("%s: %v", expression, issues.Err())
		}
		program = must.Value(env.Program(ast))(t)
		programs[expression] = program
	}
	out, _, err := program.Eval(object)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	result, ok := out.(types.Bool)
	if !ok {
		t.Fatalf("%s is %v", expression, out)
	}
	return bool(result)
}

// waited reports whether kubectl wait --for=condition=Ready ends on an object, by the rules of its ConditionalWait.
func waited(object map[string]any) bool {
	u := &unstructured.Unstructured{Object: object}
	conditions, _, _ := unstructured.NestedSlice(object, "status", "conditions")
	for _, item := range conditions {
		condition, _ := item.(map[string]any)
		if name, found, err := unstructured.NestedString(condition, "type"); !found || err != nil || !strings.EqualFold(name, "Ready") {
			continue
		}
		is, found, err := unstructured.NestedString(condition, "status")
		if !found || err != nil {
			continue
		}
		observed, found, _ := unstructured.NestedInt64(condition, "observedGeneration")
		if !found {
			observed, found, _ = unstructured.NestedInt64(object, "status", "observedGeneration")
		}
		if found && observed < u.GetGeneration() {
			return false
		}
		return strings.EqualFold(is, "True")
	}
	return false
}

// health is what an object is, in the words of Argo CD.
type health string

const (
	healthy     health = "Healthy"
	progressing health = "Progressing"
	degraded    health = "Degraded"
	suspended   health = "Suspended"
)

// kstatus is the word of kstatus for it, which has none for what waits for a person.
func (h health) kstatus() string {
	switch h {
	case healthy:
		return "Current"
	case degraded:
		return "Failed"
	}
	return "InProgress"
}

// judge compares the verdicts of all tools on an object with what it is.
func judge(t *testing.T, object map[string]any, is health, script string, e expressions) {
	t.Helper()
	got := []string{"kstatus " + kstatus(t, object), "Argo CD " + argo(t, script, object), "Flux " + flux(t, e, object), fmt.Sprintf("kubectl wait %t", waited(object))}
	want := []string{"kstatus " + is.kstatus(), "Argo CD " + string(is), "Flux " + is.kstatus(), fmt.Sprintf("kubectl wait %t", is == healthy)}
	must.Equal(t, "verdicts", got, want)
}
