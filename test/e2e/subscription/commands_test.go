package subscription

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	"github.com/prometheus/common/expfmt"
	"github.com/rogpeppe/go-internal/testscript"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/yaml"
)

func cluster(ts *testscript.TestScript) client.Client {
	c, err := shared()
	ts.Check(err)
	return c
}

// kinds are the short names that scripts use.
var kinds = map[string]string{"sub": "operators.coreos.com/v1alpha1 Subscription", "csv": "operators.coreos.com/v1alpha1 ClusterServiceVersion",
	"ip": "operators.coreos.com/v1alpha1 InstallPlan", "catsrc": "operators.coreos.com/v1alpha1 CatalogSource", "og": "operators.coreos.com/v1 OperatorGroup",
	"crd": "apiextensions.k8s.io/v1 CustomResourceDefinition", "ns": "v1 Namespace"}

// named is the object that KIND/NAME means, or KIND/NAMESPACE/NAME.
func named(ts *testscript.TestScript, text string) *unstructured.Unstructured {
	short, name, _ := strings.Cut(text, "/")
	apiVersion, kind, known := strings.Cut(kinds[short], " ")
	if !known {
		ts.Fatalf("%s is none of the kinds that scripts know", short)
	}
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	namespace, other, elsewhere := strings.Cut(os.Expand(name, ts.Getenv), "/")
	if !elsewhere {
		namespace, other = ts.Getenv("NS"), namespace
	}
	o.SetNamespace(namespace)
	o.SetName(other)
	return o
}

// apply creates the objects of a file in the namespace of the script: apply FILE.
func apply(ts *testscript.TestScript, _ bool, args []string) {
	for _, document := range strings.Split(os.Expand(ts.ReadFile(args[0]), ts.Getenv), "\n---\n") {
		o := &unstructured.Unstructured{}
		ts.Check(yaml.Unmarshal([]byte(document), &o.Object))
		if o.GetNamespace() == "" {
			o.SetNamespace(ts.Getenv("NS"))
		}
		ts.Check(cluster(ts).Create(context.Background(), o))
	}
}

// patch merges JSON into an object: patch KIND/NAME JSON.
func patch(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(cluster(ts).Patch(context.Background(), named(ts, args[0]), client.RawPatch(types.MergePatchType, []byte(os.Expand(args[1], ts.Getenv)))))
}

// remove deletes an object: delete KIND/NAME.
func remove(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(cluster(ts).Delete(context.Background(), named(ts, args[0])))
}

// await waits until a field of an object, by JSONPath, matches; with ! until it does not: await KIND/NAME JSONPATH [REGEXP]. Without
// REGEXP it waits until the field, or the object, is there.
func await(ts *testscript.TestScript, neg bool, args []string) {
	path := jsonpath.New(args[1]).AllowMissingKeys(true)
	ts.Check(path.Parse(args[1]))
	wanted := regexp.MustCompile("(?s).")
	if len(args) > 2 {
		wanted = regexp.MustCompile("(?s)" + os.Expand(args[2], ts.Getenv))
	}
	object := named(ts, args[0])
	last := ""
	poll(ts, func() bool {
		last = ""
		if err := cluster(ts).Get(context.Background(), client.ObjectKeyFromObject(object), object); err == nil {
			var out bytes.Buffer
			ts.Check(path.Execute(&out, object.Object))
			last = out.String()
		}
		return wanted.MatchString(last) != neg
	}, func() string {
		return fmt.Sprintf("%s of %s is %q, want (negated: %t) %s\n%s", args[1], args[0], last, neg, wanted, dump(ts))
	})
}

// says waits until a condition, as "status reason message", matches; with ! until it does not: says KIND/NAME TYPE REGEXP. A condition
// that is not there says nothing.
func says(ts *testscript.TestScript, neg bool, args []string) {
	wanted := regexp.MustCompile("(?s)" + os.Expand(args[2], ts.Getenv))
	object := named(ts, args[0])
	last := ""
	poll(ts, func() bool {
		last = ""
		if err := cluster(ts).Get(context.Background(), client.ObjectKeyFromObject(object), object); err != nil {
			return false
		}
		conditions, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
		ts.Check(err)
		for _, c := range conditions {
			if c := c.(map[string]any); c["type"] == args[1] {
				last = strings.ReplaceAll(fmt.Sprint(c["status"], " ", c["reason"], " ", c["message"]), "<nil>", "")
			}
		}
		return wanted.MatchString(last) != neg
	}, func() string {
		return fmt.Sprintf("%s of %s says %q, want (negated: %t) %s\n%s", args[1], args[0], last, neg, wanted, dump(ts))
	})
}

func poll(ts *testscript.TestScript, done func() bool, complaint func() string) {
	for deadline := time.Now().Add(patience); !done(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("not within %s: %s", patience, complaint())
		}
	}
}

// dump shows what the namespace says about itself.
func dump(ts *testscript.TestScript) string {
	var out strings.Builder
	var subs v1alpha1.SubscriptionList
	var plans v1alpha1.InstallPlanList
	var operators v1alpha1.ClusterServiceVersionList
	for _, list := range []client.ObjectList{&subs, &plans, &operators} {
		ts.Check(cluster(ts).List(context.Background(), list, client.InNamespace(ts.Getenv("NS"))))
	}
	for _, s := range subs.Items {
		text, _ := json.Marshal(s.Status)
		fmt.Fprintf(&out, "Subscription %s: %s\n", s.Name, text)
	}
	for _, p := range plans.Items {
		fmt.Fprintf(&out, "InstallPlan %s %v: %s %s\n", p.Name, p.Spec.ClusterServiceVersionNames, p.Status.Phase, p.Status.Message)
	}
	for _, csv := range operators.Items {
		fmt.Fprintf(&out, "ClusterServiceVersion %s, which replaces %q: %s %s %s\n", csv.Name, csv.Spec.Replaces, csv.Status.Phase, csv.Status.Reason, csv.Status.Message)
	}
	return out.String()
}

// approve waits for a plan that installs exactly these and waits for approval, and approves it: approve CSV...
func approve(ts *testscript.TestScript, _ bool, args []string) {
	poll(ts, func() bool {
		var plans v1alpha1.InstallPlanList
		ts.Check(cluster(ts).List(context.Background(), &plans, client.InNamespace(ts.Getenv("NS"))))
		for i := range plans.Items {
			p := &plans.Items[i]
			if p.Status.Phase == v1alpha1.InstallPlanPhaseRequiresApproval && strings.Join(p.Spec.ClusterServiceVersionNames, " ") == strings.Join(args, " ") {
				p.Spec.Approved = true
				return cluster(ts).Update(context.Background(), p) == nil
			}
		}
		return false
	}, func() string { return "no plan of " + strings.Join(args, ", ") + " waits for approval\n" + dump(ts) })
}

// metric waits until a line of the metrics matches; with ! until none does: metric REGEXP.
func metric(ts *testscript.TestScript, neg bool, args []string) {
	wanted := regexp.MustCompile("(?m)" + os.Expand(args[0], ts.Getenv))
	var out bytes.Buffer
	poll(ts, func() bool {
		out.Reset()
		families, err := metrics.Registry.Gather()
		ts.Check(err)
		for _, f := range families {
			if strings.HasPrefix(f.GetName(), "subscription") || strings.HasPrefix(f.GetName(), "olm_") {
				_, err := expfmt.MetricFamilyToText(&out, f)
				ts.Check(err)
			}
		}
		return wanted.Match(out.Bytes()) != neg
	}, out.String)
}

// event waits for an Event: event NAMESPACE KIND/NAME REASON REGEXP.
func event(ts *testscript.TestScript, _ bool, args []string) {
	kind, name, _ := strings.Cut(os.Expand(args[1], ts.Getenv), "/")
	wanted := regexp.MustCompile(args[3])
	poll(ts, func() bool {
		var events corev1.EventList
		ts.Check(cluster(ts).List(context.Background(), &events, client.InNamespace(os.Expand(args[0], ts.Getenv))))
		for _, e := range events.Items {
			if e.InvolvedObject.Kind == kind && e.InvolvedObject.Name == name && e.Reason == args[2] && e.Type == corev1.EventTypeWarning && wanted.MatchString(e.Message) {
				return true
			}
		}
		return false
	}, func() string { return "no such Event" })
}
