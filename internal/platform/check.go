package platform

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/messages"
)

// Rules of findings.
const (
	RuleRemovedAPI       = "RemovedAPI"
	RuleMinKubeVersion   = "MinKubeVersion"
	RuleMaxOpenShift     = "MaxOpenShiftVersion"
	RuleUnreadableDetail = "Unreadable"
)

// Operator is what is known of an installed operator.
type Operator struct {
	Installed
	// MinKubeVersion is the first version of Kubernetes that it works on; empty when it does not say.
	MinKubeVersion string
	// Uses are the APIs that it is known to use.
	Uses []Use
	// Unreadable says what could not be checked.
	Unreadable []string
	// Support is how long it is supported, as its catalog says; empty for what is not installed.
	Support string
}

// Use is one use of an API.
type Use struct {
	APIVersion, Kind string
	// Where says what uses it, such as an object of the bundle.
	Where string
}

// Finding is one thing that does not fit.
type Finding struct {
	Operator string `json:"operator"`
	Rule     string `json:"rule"`
	Message  string `json:"message"`
	Remedy   string `json:"remedy"`
}

// Report is what a version of Kubernetes means for operators.
type Report struct {
	KubeVersion string    `json:"kubeVersion"`
	Operators   int       `json:"operators"`
	Findings    []Finding `json:"findings"`
	// Support is how long each operator that is installed is supported, by operator.
	Support []OperatorSupport `json:"support,omitempty"`
}

// OperatorSupport is how long an operator is supported, as the condition Supported says.
type OperatorSupport struct {
	Operator string `json:"operator"`
	Support  string `json:"support"`
}

// Check finds what stands between operators and a version of Kubernetes. Findings are sorted by operator, rule and message.
func Check(kubeVersion string, operators []Operator) (*Report, error) {
	// Read a version of Kubernetes, whose major version is 1; the minor one must be there.
	version, err := parse(kubeVersion)
	if err == nil && (version.Major != 1 || !strings.Contains(kubeVersion, ".")) {
		err = fmt.Errorf("%q is not a version of Kubernetes such as 1.36 or 1.36.2", kubeVersion)
	}
	if err != nil {
		return nil, err
	}
	version.Pre, version.Build = nil, nil
	target := Minor{version.Major, version.Minor}
	report := &Report{KubeVersion: version.String(), Operators: len(operators), Findings: []Finding{}}
	for _, o := range operators {
		if o.Support != "" {
			report.Support = append(report.Support, OperatorSupport{o.Name, o.Support})
		}
		add := func(rule, remedy, format string, args ...any) {
			report.Findings = append(report.Findings, Finding{o.Name, rule, fmt.Sprintf(format, args...), remedy})
		}
		for _, use := range o.Uses {
			if minor, ok := removedIn[api{use.APIVersion, use.Kind}]; ok && target.Compare(Minor{1, minor}) >= 0 {
				add(RuleRemovedAPI, "upgrade the operator to a version that does without", "%s uses %s %s, which Kubernetes serves no more since 1.%d", use.Where, use.APIVersion, use.Kind, minor)
			}
		}
		if o.MinKubeVersion != "" {
			switch least, err := parse(o.MinKubeVersion); {
			case err != nil:
				add(RuleUnreadableDetail, "ask its author", "its minKubeVersion cannot be read: %v", err)
			case version.LT(least):
				add(RuleMinKubeVersion, "keep a newer Kubernetes, or install an older version of the operator", "it needs Kubernetes %s or later", least)
			}
		}
		last, err := MaxOpenShift(o.Properties)
		switch on, known := openShift(target); {
		case err != nil:
			add(RuleUnreadableDetail, "ask its author", "%v", err)
		case known && last != nil && last.Compare(on) < 0:
			add(RuleMaxOpenShift, "upgrade the operator first", "its author knows it to work on OpenShift up to %s, and Kubernetes %s is that of OpenShift %s", last, target, on)
		}
		for _, what := range o.Unreadable {
			add(RuleUnreadableDetail, "mend that, and check again", "%s", what)
		}
	}
	slices.SortFunc(report.Findings, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.Operator, b.Operator), strings.Compare(a.Rule, b.Rule), strings.Compare(a.Message, b.Message))
	})
	report.Findings = slices.Compact(report.Findings)
	slices.SortStableFunc(report.Support, func(a, b OperatorSupport) int { return strings.Compare(a.Operator, b.Operator) })
	return report, nil
}

// Write prints the report for people.
func (r *Report) Write(w io.Writer) error {
	operators := fmt.Sprintf("%d operators", r.Operators)
	if r.Operators == 1 {
		operators = "1 operator"
	}
	var b strings.Builder
	if len(r.Findings) == 0 {
		fmt.Fprintf(&b, "Nothing stands between %s and Kubernetes %s.\n", operators, r.KubeVersion)
	} else {
		fmt.Fprintf(&b, "With Kubernetes %s, of %s:\n", r.KubeVersion, operators)
	}
	last := ""
	for _, f := range r.Findings {
		if f.Operator != last {
			fmt.Fprintf(&b, "\n%s\n", messages.Clean(f.Operator))
			last = f.Operator
		}
		fmt.Fprintf(&b, "  %s: %s; %s\n", f.Rule, messages.Clean(f.Message), messages.Clean(f.Remedy))
	}
	if len(r.Support) > 0 {
		rows := [][]string{{"OPERATOR", "SUPPORT"}}
		for _, s := range r.Support {
			rows = append(rows, []string{s.Operator, s.Support})
		}
		b.WriteString("\n" + messages.Table(rows...))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// removal is what a minor version of Kubernetes 1 serves no more.
type removal struct {
	minor      uint64
	apiVersion string
	kinds      []string
}

// removals is what the API server has stopped serving, or is going to, oldest first. Kinds that are never written by anyone, such as
// scales and reviews, are left out, and alpha versions, which no cluster serves unless it is told to.
var removals = []removal{
	{16, "apps/v1beta1", []string{"ControllerRevision", "Deployment", "StatefulSet"}},
	{16, "apps/v1beta2", []string{"ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"}},
	{16, "extensions/v1beta1", []string{"DaemonSet", "Deployment", "NetworkPolicy", "PodSecurityPolicy", "ReplicaSet"}},
	{22, "admissionregistration.k8s.io/v1beta1", []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}},
	{22, "apiextensions.k8s.io/v1beta1", []string{"CustomResourceDefinition"}},
	{22, "apiregistration.k8s.io/v1beta1", []string{"APIService"}},
	{22, "certificates.k8s.io/v1beta1", []string{"CertificateSigningRequest"}},
	{22, "coordination.k8s.io/v1beta1", []string{"Lease"}},
	{22, "extensions/v1beta1", []string{"Ingress"}},
	{22, "networking.k8s.io/v1beta1", []string{"Ingress", "IngressClass"}},
	{22, "rbac.authorization.k8s.io/v1beta1", []string{"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}},
	{22, "scheduling.k8s.io/v1beta1", []string{"PriorityClass"}},
	{22, "storage.k8s.io/v1beta1", []string{"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"}},
	{25, "autoscaling/v2beta1", []string{"HorizontalPodAutoscaler"}},
	{25, "batch/v1beta1", []string{"CronJob"}},
	{25, "discovery.k8s.io/v1beta1", []string{"EndpointSlice"}},
	{25, "events.k8s.io/v1beta1", []string{"Event"}},
	{25, "node.k8s.io/v1beta1", []string{"RuntimeClass"}},
	{25, "policy/v1beta1", []string{"PodDisruptionBudget", "PodSecurityPolicy"}},
	{26, "autoscaling/v2beta2", []string{"HorizontalPodAutoscaler"}},
	{26, "flowcontrol.apiserver.k8s.io/v1beta1", []string{"FlowSchema", "PriorityLevelConfiguration"}},
	{27, "storage.k8s.io/v1beta1", []string{"CSIStorageCapacity"}},
	{29, "flowcontrol.apiserver.k8s.io/v1beta2", []string{"FlowSchema", "PriorityLevelConfiguration"}},
	{32, "flowcontrol.apiserver.k8s.io/v1beta3", []string{"FlowSchema", "PriorityLevelConfiguration"}},
	{34, "admissionregistration.k8s.io/v1beta1", []string{"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}},
	{37, "networking.k8s.io/v1beta1", []string{"IPAddress", "ServiceCIDR"}},
	{37, "storage.k8s.io/v1beta1", []string{"VolumeAttributesClass"}},
	{38, "resource.k8s.io/v1beta1", []string{"DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"}},
	{39, "coordination.k8s.io/v1beta1", []string{"LeaseCandidate"}},
	{39, "resource.k8s.io/v1beta2", []string{"DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"}},
	{40, "admissionregistration.k8s.io/v1beta1", []string{"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"}},
	{40, "certificates.k8s.io/v1beta1", []string{"ClusterTrustBundle"}},
	{41, "certificates.k8s.io/v1beta1", []string{"PodCertificateRequest"}},
	{41, "storagemigration.k8s.io/v1beta1", []string{"StorageVersionMigration"}},
	{42, "resource.k8s.io/v1beta2", []string{"DeviceTaintRule"}},
}

type api struct{ apiVersion, kind string }

// removedIn is the minor version of Kubernetes 1 that no longer serves an API.
var removedIn = func() map[api]uint64 {
	index := map[api]uint64{}
	for _, r := range removals {
		for _, kind := range r.kinds {
			index[api{r.apiVersion, kind}] = r.minor
		}
	}
	return index
}()
