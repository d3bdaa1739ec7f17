package install

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// digest is one of an image.
const digest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// TestPodOfTheChart: what people add to the pods of anything they install is added to what the chart has by itself, and takes nothing of it away.
func TestPodOfTheChart(t *testing.T) {
	const name = "Deployment olm/fairlead-manager"
	plain := &unstructured.Unstructured{Object: byName(t, chart(t, nil))[name]}
	affinity := map[string]any{"nodeAffinity": map[string]any{"requiredDuringSchedulingIgnoredDuringExecution": map[string]any{"nodeSelectorTerms": []any{}}}}
	volume := map[string]any{"name": "certs", "configMap": map[string]any{"name": "registry-certs"}}
	mount := map[string]any{"name": "certs", "mountPath": "/etc/registry-certs", "readOnly": true}
	proxy := map[string]any{"name": "HTTPS_PROXY", "value": "http://proxy.example.com:3128"}
	made := &unstructured.Unstructured{Object: byName(t, chart(t, func(v map[string]any) {
		v["image"].(map[string]any)["digest"] = digest
		v["affinity"], v["topologySpreadConstraints"] = affinity, []any{}
		v["extraEnv"], v["extraVolumes"], v["extraVolumeMounts"] = []any{proxy}, []any{volume}, []any{mount}
		v["deploymentAnnotations"], v["podAnnotations"], v["podLabels"] = map[string]any{"a": "1"}, map[string]any{"b": "2"}, map[string]any{"c": "3"}
		v["extraArgs"] = []any{"--registry-certs=/etc/registry-certs"}
	}))[name]}
	pod := func(d *unstructured.Unstructured) (template, spec, container map[string]any) {
		t.Helper()
		template, _, _ = unstructured.NestedMap(d.Object, "spec", "template")
		spec, _ = template["spec"].(map[string]any)
		if spec == nil {
			t.Fatalf("there is no %s", name)
		}
		return template, spec, spec["containers"].([]any)[0].(map[string]any)
	}
	_, before, container := pod(plain)
	template, spec, changed := pod(made)
	must.Equal(t, "annotations of the Deployment", made.GetAnnotations(), map[string]string{"a": "1"})
	must.Equal(t, "labels of the Deployment", made.GetLabels(), plain.GetLabels())
	must.Equal(t, "metadata of the pods", template["metadata"], any(map[string]any{"labels": map[string]any{"app": "fairlead-manager", "c": "3"}, "annotations": map[string]any{"b": "2"}}))
	must.Equal(t, "image", changed["image"], any("fairlead-manager@"+digest))
	must.Equal(t, "affinity", spec["affinity"], any(affinity))
	must.Equal(t, "constraints", spec["topologySpreadConstraints"], nil)
	for what, each := range map[string]struct{ got, before, more any }{
		"env":          {changed["env"], container["env"], proxy},
		"volumes":      {spec["volumes"], before["volumes"], volume},
		"volumeMounts": {changed["volumeMounts"], container["volumeMounts"], mount},
		"args":         {changed["args"], container["args"], "--registry-certs=/etc/registry-certs"},
	} {
		must.Equal(t, what, each.got, any(append(slices.Clone(each.before.([]any)), each.more)))
	}
}

// TestAPIsOfTheChart: the manager works on the APIs that the values name, and on no others.
func TestAPIsOfTheChart(t *testing.T) {
	for _, test := range []struct {
		apis []any
		want string
	}{{[]any{"v0"}, "--apis=v0"}, {[]any{"v1"}, "--apis=v1"}, {[]any{"v0", "v1"}, ""}} {
		d := byName(t, chart(t, func(v map[string]any) { v["apis"] = test.apis }))["Deployment olm/fairlead-manager"]
		containers, _, _ := unstructured.NestedSlice(d, "spec", "template", "spec", "containers")
		got := ""
		for _, arg := range containers[0].(map[string]any)["args"].([]any) {
			if strings.HasPrefix(arg.(string), "--apis") {
				got += arg.(string)
			}
		}
		must.Equal(t, "flag for the APIs", got, test.want)
	}
}

// TestMemoryIsAskedFor: what the scheduler keeps for the manager is what it takes with a large catalog, as docs/architecture.md has measured it, or more.
func TestMemoryIsAskedFor(t *testing.T) {
	const measured = 222 * 1000 * 1000
	containers, _, _ := unstructured.NestedSlice(byName(t, chart(t, nil))["Deployment olm/fairlead-manager"], "spec", "template", "spec", "containers")
	memory := func(of string) int64 {
		text, _, _ := unstructured.NestedString(containers[0].(map[string]any), "resources", of, "memory")
		quantity := must.Value(resource.ParseQuantity(text))(t)
		return quantity.Value()
	}
	if request, limit := memory("requests"), memory("limits"); request < measured || limit < 2*request {
		t.Errorf("the request is %d bytes and the limit %d; the manager takes %d with the catalog of all community operators", request, limit, measured)
	}
	page := string(must.Value(os.ReadFile("../../docs/architecture.md"))(t))
	must.Contain(t, "the figure of docs/architecture.md", page, "203 MB resident at rest, 222 MB at most, while it reads the catalog")
}

// valuesSchema is what Helm holds values to.
func valuesSchema(t *testing.T) *spec.Schema {
	t.Helper()
	s := &spec.Schema{}
	must.NoError(t, s.UnmarshalJSON(must.Value(os.ReadFile(filepath.Join(config, "chart", "values.schema.json")))(t)))
	return s
}

// TestSchemaIsWhole: the schema has every value of the chart and no others, tells of each what it is for, and is closed wherever it has names of its own.
func TestSchemaIsWhole(t *testing.T) {
	var walk func(path string, s *spec.Schema, values any)
	walk = func(path string, s *spec.Schema, values any) {
		if len(s.Properties) == 0 {
			return
		}
		if s.AdditionalProperties == nil || s.AdditionalProperties.Allows {
			t.Errorf("%s takes names that the chart does not have", path)
		}
		there, _ := values.(map[string]any)
		for name := range s.Properties {
			below := s.Properties[name]
			if below.Description == "" || len(below.Type) != 1 {
				t.Errorf("%s.%s: description %q, type %v", path, name, below.Description, below.Type)
			}
			if _, is := there[name]; !is && name != "global" && (path != "values.resources" || name != "claims") {
				t.Errorf("values.yaml has no %s.%s", path, name)
			}
			walk(path+"."+name, &below, there[name])
		}
		for name := range there {
			if _, is := s.Properties[name]; !is {
				t.Errorf("the schema has no %s.%s", path, name)
			}
		}
	}
	whole := valuesSchema(t)
	delete(whole.Properties, "affinity") // its parts are those of a pod
	values := valuesOf(t, nil)
	delete(values, "affinity")
	walk("values", whole, values)
}

// TestSchemaOfTheChart: Helm refuses values that are misspelled or of no use, and takes those of the chart.
func TestSchemaOfTheChart(t *testing.T) {
	set := func(path string, value any) func(map[string]any) {
		return func(v map[string]any) {
			names := strings.Split(path, ".")
			for _, name := range names[:len(names)-1] {
				v = v[name].(map[string]any)
			}
			v[names[len(names)-1]] = value
		}
	}
	for name, test := range map[string]struct {
		change func(map[string]any)
		fits   bool
	}{
		"as they are":                       {nil, true},
		"below a parent chart":              {set("global", map[string]any{"imageRegistry": "r"}), true},
		"a console with hosts":              {set("console.hosts", []any{"console.example.com:8443"}), true},
		"a console with a provider":         {set("console.oidc", map[string]any{"issuer": "https://dex.example.com", "clientID": "c", "scopes": []any{"groups"}}), true},
		"a misspelled value":                {set("replica", 2), false},
		"a misspelled value of the console": {set("console.host", []any{"console.example.com"}), false},
		"a host that is a URL":              {set("console.hosts", []any{"https://console.example.com"}), false},
		"hosts that are one text":           {set("console.hosts", "console.example.com"), false},
		"an issuer without TLS":             {set("console.oidc", map[string]any{"issuer": "http://dex.example.com"}), false},
		"a misspelled value for OIDC":       {set("console.oidc", map[string]any{"clientId": "c"}), false},
		"a digest":                          {set("image.digest", digest), true},
		"a digest without algorithm":        {set("image.digest", digest[7:]), false},
		"a tag that is a number":            {set("image.tag", 1), false},
		"a repository with a digest":        {set("image.repository", "r/m@"+digest), false},
		"a pull policy of another case":     {set("image.pullPolicy", "always"), false},
		"pull secrets as a pod has them":    {set("imagePullSecrets", []any{map[string]any{"name": "login"}}), false},
		"replicas as a text":                {set("replicas", "2"), false},
		"an API that does not exist":        {set("apis", []any{"v2"}), false},
		"no API":                            {set("apis", []any{}), false},
		"an identity that does not exist":   {set("policies.managerIdentity", "everybody"), false},
		"an argument without dashes":        {set("extraArgs", []any{"catalog-pods"}), false},
		"a variable":                        {set("extraEnv", []any{map[string]any{"name": "NO_PROXY", "value": ".svc"}}), true},
		"a variable of the chart":           {set("extraEnv", []any{map[string]any{"name": "POD_IP", "value": "1.2.3.4"}}), false},
		"a variable that is a number":       {set("extraEnv", []any{map[string]any{"name": "A", "value": 1}}), false},
		"a volume":                          {set("extraVolumes", []any{map[string]any{"name": "certs", "emptyDir": map[string]any{}}}), true},
		"a volume of the chart":             {set("extraVolumes", []any{map[string]any{"name": "store", "emptyDir": map[string]any{}}}), false},
		"a volume without a name":           {set("extraVolumes", []any{map[string]any{"emptyDir": map[string]any{}}}), false},
		"a mount":                           {set("extraVolumeMounts", []any{map[string]any{"name": "certs", "mountPath": "/certs"}}), true},
		"a mount over that of the chart":    {set("extraVolumeMounts", []any{map[string]any{"name": "certs", "mountPath": "/tmp"}}), false},
		"a mount without a path":            {set("extraVolumeMounts", []any{map[string]any{"name": "certs"}}), false},
		"affinity":                          {set("affinity", map[string]any{"podAntiAffinity": map[string]any{}}), true},
		"affinity of no kind":               {set("affinity", map[string]any{"antiAffinity": map[string]any{}}), false},
		"a label of pods":                   {set("podLabels", map[string]any{"team": "platform"}), true},
		"the label that finds them":         {set("podLabels", map[string]any{"app": "mine"}), false},
		"an annotation that is a boolean":   {set("podAnnotations", map[string]any{"inject": false}), false},
		"requests below the wrong name":     {set("resources", map[string]any{"request": map[string]any{}}), false},
	} {
		if err := validate.AgainstSchema(valuesSchema(t), valuesOf(t, test.change), strfmt.Default); (err == nil) != test.fits {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReservedNamesOfTheChart: the volumes, mounts and variables that the schema refuses are those that the chart has, with everything switched on.
func TestReservedNamesOfTheChart(t *testing.T) {
	all := chart(t, func(v map[string]any) {
		v["metricsTLS"] = map[string]any{"secret": "a", "clientCASecret": "b", "plain": false}
		consoleOn(map[string]any{"tlsSecret": "c", "oidc": map[string]any{"issuer": "https://d", "clientID": "e", "clientSecret": "f", "caConfigMap": "g", "scopes": []any{}}})(v)
	})
	pod, _, _ := unstructured.NestedMap(byName(t, all)["Deployment olm/fairlead-manager"], "spec", "template", "spec")
	container := pod["containers"].([]any)[0].(map[string]any)
	for value, has := range map[string]struct {
		list []any
		name string
	}{"extraEnv": {container["env"].([]any), "name"}, "extraVolumes": {pod["volumes"].([]any), "name"}, "extraVolumeMounts": {container["volumeMounts"].([]any), "mountPath"}} {
		items := valuesSchema(t).Properties[value].Items.Schema
		refused := items.Properties[has.name].Not.Enum
		var names []any
		for _, one := range has.list {
			names = append(names, one.(map[string]any)[has.name])
		}
		must.Equal(t, value+" refused", refused, names)
	}
}

// TestTheChartIsWhole: who packs the directory of the chart, or copies it, has all of it. A link would lead out of it, and code is no part of a chart.
func TestTheChartIsWhole(t *testing.T) {
	must.NoError(t, filepath.WalkDir(filepath.Join(config, "chart"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && (!entry.Type().IsRegular() || !slices.Contains([]string{".yaml", ".txt", ".json"}, filepath.Ext(path))) {
			t.Errorf("%s is %s", path, entry.Type())
		}
		return err
	}))
	var text map[string]any
	must.NoError(t, json.Unmarshal(must.Value(os.ReadFile(filepath.Join(config, "chart", "values.schema.json")))(t), &text))
	must.Equal(t, "draft of the schema", text["$schema"], any("http://json-schema.org/draft-07/schema#"))
}

// TestNotesOfTheChart: who has installed reads what comes next, for the APIs and the namespaces that the values name.
func TestNotesOfTheChart(t *testing.T) {
	notes := func(change func(map[string]any)) string {
		return string(rendered(t, filepath.Join(config, "chart", "templates", "NOTES.txt"), valuesOf(t, change)))
	}
	for name, test := range map[string]struct {
		change     func(map[string]any)
		want, lack []string
	}{
		"as it comes": {nil, []string{"rollout status deployment/fairlead-manager", "fairlead catalog add NAME IMAGE -n olm\n", "--api v1", "v0 and v1", "fairlead console\n", "docs/README.md", "helm uninstall fairlead"}, []string{"port-forward"}},
		"elsewhere, with the console": {func(v map[string]any) {
			v["namespace"] = "elsewhere"
			consoleOn(map[string]any{"oidc": map[string]any{"issuer": "https://dex.example.com", "clientID": "c", "clientSecret": "", "caConfigMap": "", "scopes": []any{}}})(v)
		}, []string{"-n elsewhere port-forward service/fairlead-console 9443:443", "or at https://dex.example.com", "--manager-namespace elsewhere", "catalog add NAME IMAGE -n elsewhere"}, []string{"-n olm"}},
		"v0 alone": {func(v map[string]any) { v["apis"] = []any{"v0"} }, []string{"fairlead install PACKAGE -n operators\n"}, []string{"v1"}},
		"v1 alone": {func(v map[string]any) { v["apis"] = []any{"v1"} }, []string{"fairlead install PACKAGE --api v1\n"}, []string{"v0", "-n operators"}},
	} {
		text := notes(test.change)
		for _, want := range test.want {
			must.Contain(t, name, text, want)
		}
		for _, lack := range test.lack {
			must.Lack(t, name, text, lack)
		}
	}
}
