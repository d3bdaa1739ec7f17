package console

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/preview"
)

// The APIs to install by.
const (
	apiV0 = "v0"
	apiV1 = "v1"
)

// order is what a user asks to be installed: by a Subscription (v0), or by a ClusterExtension (v1).
type order struct {
	API     string `json:"api"`
	Package string `json:"package"`
	// Catalog is NAMESPACE/NAME of a CatalogSource, or the name of a ClusterCatalog.
	Catalog   string `json:"catalog"`
	Namespace string `json:"namespace"`
	// Channel is the one to follow; empty is the default channel.
	Channel string `json:"channel,omitempty"`
	// Version is the name of the version to begin with (v0), or a version or a range (v1); empty is the newest.
	Version string `json:"version,omitempty"`
	// Manual asks for approval before anything is installed or upgraded (v0).
	Manual bool `json:"manual,omitempty"`
	// Mode is the install mode, and Watch the namespaces to watch with it, where the namespace has no OperatorGroup yet (v0).
	Mode  string   `json:"mode,omitempty"`
	Watch []string `json:"watch,omitempty"`
	// Name of the ClusterExtension, ServiceAccount, Dependencies and Config are of the v1 API.
	Name           string         `json:"name,omitempty"`
	ServiceAccount string         `json:"serviceAccount,omitempty"`
	Dependencies   bool           `json:"dependencies,omitempty"`
	Config         map[string]any `json:"config,omitempty"`
}

// Names of the parameters of an order. Those of the fields of a configuration begin with configField.
const (
	configKey   = "config"
	configField = "config."
)

// readOrder reads what an address or a form says, and what is wrong with it. Where nothing is said of the API, the catalog tells it.
func readOrder(values url.Values) (o order, wrong []problem) {
	get := func(name string) string { return strings.TrimSpace(values.Get(name)) }
	o = order{API: get("api"), Package: get("package"), Catalog: get("catalog"), Namespace: get(namespaceKey), Channel: get("channel"), Version: get("version"),
		Manual: get("approval") == "manual", Mode: get("mode"), Watch: namesIn(get("watch")), Name: get("name"), ServiceAccount: get("account"), Dependencies: get("dependencies") == "yes"}
	if o.API == "" {
		o.API = apiV0
		if o.Catalog != "" && preview.IsClusterCatalog(o.Catalog) {
			o.API = apiV1
		}
	}
	if o.API != apiV1 {
		o.Name, o.ServiceAccount, o.Dependencies = "", "", false
		return o, nil
	}
	o.Manual, o.Mode, o.Watch = false, "", nil
	config, err := ops.ReadConfig([]byte(cmpText(values.Get(configKey), "{}")))
	if err != nil {
		wrong = append(wrong, problem{configKey, "The configuration cannot be read as YAML: " + err.Error()})
		config = map[string]any{}
	}
	for name, given := range values {
		if field, is := strings.CutPrefix(name, configField); is && field != "" && len(given) > 0 && strings.TrimSpace(given[0]) != "" {
			kind, field, _ := strings.Cut(field, ".")
			value, err := fieldValue(kind, strings.TrimSpace(given[0]))
			if err != nil {
				wrong = append(wrong, problem{name, fmt.Sprintf("The configuration has a wrong value of %s: %v", field, err)})
				continue
			}
			if config == nil {
				config = map[string]any{}
			}
			config[field] = value
		}
	}
	if len(config) > 0 {
		o.Config = config
	}
	return o, wrong
}

func cmpText(text, empty string) string {
	if strings.TrimSpace(text) == "" {
		return empty
	}
	return text
}

// namesIn are the names of a list, separated by commas or space.
func namesIn(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t' })
}

// problem is what is wrong with a field of a form.
type problem struct {
	Field string `json:"field"`
	Text  string `json:"text"`
}

// check says what nothing can be called, before the cluster is asked.
func (o order) check() (wrong []problem) {
	one := func(field, what, value string) {
		if err := preview.Check(what, value); err != nil {
			wrong = append(wrong, problem{field, fmt.Sprintf("The field %s is wrong: %v.", field, err)})
		}
	}
	if o.API != apiV0 && o.API != apiV1 {
		wrong = append(wrong, problem{"api", fmt.Sprintf("There is no API %q: choose %s or %s.", o.API, apiV0, apiV1)})
	}
	one("namespace", "namespace", o.Namespace)
	if o.Channel != "" {
		one("channel", "channel", o.Channel)
	}
	if o.ServiceAccount != "" {
		one("account", "catalog", o.ServiceAccount) // an object of Kubernetes as it is
	}
	if o.Name != "" {
		one("name", "catalog", o.Name)
	}
	if o.API == apiV0 && o.Version != "" {
		one("version", v1alpha1.ClusterServiceVersionKind, o.Version)
	}
	for _, name := range o.Watch {
		one("watch", "namespace", name)
	}
	return append(wrong, o.checkMode()...)
}

// checkMode says what install modes and namespaces to watch do not go together.
func (o order) checkMode() []problem {
	others := slices.DeleteFunc(slices.Clone(o.Watch), func(n string) bool { return n == o.Namespace })
	switch mode := v1alpha1.InstallModeType(o.Mode); {
	case mode == v1alpha1.InstallModeTypeSingleNamespace && (len(o.Watch) != 1 || len(others) != 1):
		return []problem{{"watch", "With install mode SingleNamespace the operator watches one namespace, which is not its own: name it."}}
	case mode == v1alpha1.InstallModeTypeMultiNamespace && len(o.Watch) == 0:
		return []problem{{"watch", "With install mode MultiNamespace the operator watches the namespaces that are named: name at least one."}}
	case (mode == v1alpha1.InstallModeTypeAllNamespaces || mode == v1alpha1.InstallModeTypeOwnNamespace) && len(others) > 0:
		return []problem{{"watch", fmt.Sprintf("With install mode %s no namespaces are named: leave them out, or choose another install mode.", o.Mode)}}
	}
	return nil
}

// targets are what the OperatorGroup is to select.
func (o order) targets() []string {
	if o.Mode == string(v1alpha1.InstallModeTypeOwnNamespace) {
		return []string{o.Namespace}
	}
	if o.Mode == string(v1alpha1.InstallModeTypeAllNamespaces) {
		return nil
	}
	return o.Watch
}

// values is the order as the parameters of an address.
func (o order) values() url.Values {
	out := url.Values{}
	for name, value := range map[string]string{"api": o.API, "package": o.Package, "catalog": o.Catalog, namespaceKey: o.Namespace, "channel": o.Channel, "version": o.Version,
		"mode": o.Mode, "watch": strings.Join(o.Watch, ","), "name": o.Name, "account": o.ServiceAccount} {
		if value != "" {
			out.Set(name, value)
		}
	}
	if o.Manual {
		out.Set("approval", "manual")
	}
	if o.Dependencies {
		out.Set("dependencies", "yes")
	}
	if len(o.Config) > 0 {
		text, err := json.Marshal(o.Config)
		if err != nil {
			panic("a configuration that was read as JSON always encodes: " + err.Error())
		}
		out.Set(configKey, string(text))
	}
	return out
}

// key is the order as a text: the same for the same order.
func (o order) key() string { return o.values().Encode() }

// digest identifies the order in a form.
func (o order) digest() string {
	sum := sha256.Sum256([]byte(o.key()))
	return hex.EncodeToString(sum[:16])
}
