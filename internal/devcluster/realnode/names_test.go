package realnode

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/dns/dnsmessage"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/ptr"

	"fairlead.dev/fairlead/test/must"
)

func service(name, ip string) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: corev1.ServiceSpec{ClusterIP: ip}}
}

func sampleNames() *names {
	elsewhere := service("elsewhere", "")
	elsewhere.Spec.Type, elsewhere.Spec.ExternalName = corev1.ServiceTypeExternalName, "example.com"
	return &names{fake.NewClientset(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns"}}, service("web", "10.96.0.7"), service("db", "None"), elsewhere,
		&discoveryv1.EndpointSlice{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "db-1", Labels: map[string]string{discoveryv1.LabelServiceName: "db"}},
			Endpoints: []discoveryv1.Endpoint{
				{Addresses: []string{"10.129.0.3"}, Hostname: ptr.To("db-0")},
				{Addresses: []string{"10.129.0.4"}, Hostname: ptr.To("db-1"), Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(true)}},
				{Addresses: []string{"10.129.0.5"}, Hostname: ptr.To("db-2"), Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(false)}},
			},
		},
	)}
}

func TestNamesOfServices(t *testing.T) {
	n := sampleNames()
	for name, c := range map[string]struct {
		want   []string
		exists bool
	}{
		"":                          {nil, true},
		"svc":                       {nil, true},
		"ns.svc":                    {nil, true},
		"other.svc":                 {nil, false},
		"web.ns.svc":                {[]string{"10.96.0.7"}, true},
		"unknown.ns.svc":            {nil, false},
		"web.other.svc":             {nil, false},
		"elsewhere.ns.svc":          {nil, true},
		"db.ns.svc":                 {[]string{"10.129.0.3", "10.129.0.4"}, true}, // those that are ready
		"db-0.db.ns.svc":            {[]string{"10.129.0.3"}, true},
		"db-2.db.ns.svc":            {nil, false},
		"db-9.db.ns.svc":            {nil, false},
		"any.web.ns.svc":            {nil, false}, // pods behind an address have no names
		"10-129-0-3.ns.pod":         {[]string{"10.129.0.3"}, true},
		"no-address.ns.pod":         {nil, false},
		"web.ns.svc.ns.svc":         {nil, false}, // what resolvers try first with a search list
		"web.ns.svc.cluster.local.": {nil, false},
	} {
		ips, exists, err := n.lookup(t.Context(), name)
		must.NoErrorf(t, err, "look %q up", name)
		var got []string
		for _, ip := range ips {
			got = append(got, ip.String())
		}
		if c.exists != exists || cmp.Diff(c.want, got) != "" && c.exists {
			t.Errorf("%q: %v, exists: %t; want %v, %t", name, got, exists, c.want, c.exists)
		}
	}
}

func question(name string, kind dnsmessage.Type) []byte {
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: 77, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(name), Type: kind, Class: dnsmessage.ClassINET}}}
	packed, err := m.Pack()
	if err != nil {
		panic(err)
	}
	return packed
}

func TestAnswersOfDNS(t *testing.T) {
	failing := func(context.Context, string) ([]net.IP, bool, error) { return nil, false, errors.New("no API server") }
	for name, c := range map[string]struct {
		asked     string
		kind      dnsmessage.Type
		lookup    func(context.Context, string) ([]net.IP, bool, error)
		code      dnsmessage.RCode
		addresses int
	}{
		"a Service":                               {"web.ns.svc.cluster.local.", dnsmessage.TypeA, nil, dnsmessage.RCodeSuccess, 1},
		"in capitals":                             {"Web.NS.svc.Cluster.Local.", dnsmessage.TypeA, nil, dnsmessage.RCodeSuccess, 1},
		"several pods":                            {"db.ns.svc.cluster.local.", dnsmessage.TypeA, nil, dnsmessage.RCodeSuccess, 2},
		"it exists, and has none of this type":    {"web.ns.svc.cluster.local.", dnsmessage.TypeAAAA, nil, dnsmessage.RCodeSuccess, 0},
		"unknown":                                 {"x.ns.svc.cluster.local.", dnsmessage.TypeA, nil, dnsmessage.RCodeNameError, 0},
		"the API server does not answer":          {"web.ns.svc.cluster.local.", dnsmessage.TypeA, failing, dnsmessage.RCodeServerFailure, 0},
		"elsewhere, and no resolver is to be had": {"example.com.", dnsmessage.TypeA, nil, dnsmessage.RCodeServerFailure, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := &dnsServer{lookup: sampleNames().lookup, upstream: func() []string { return nil }}
			if c.lookup != nil {
				s.lookup = c.lookup
			}
			var got dnsmessage.Message
			must.NoError(t, got.Unpack(s.answer(question(c.asked, c.kind), "udp")))
			must.Equal(t, "answer", got.RCode, c.code)
			must.Equal(t, "identity", got.ID, 77)
			must.Equal(t, "number of addresses", len(got.Answers), c.addresses)
		})
	}
	s := &dnsServer{lookup: failing, upstream: func() []string { return nil }}
	for name, message := range map[string][]byte{"nothing": nil, "no message": []byte("hello"), "an answer": s.answer(question("x.cluster.local.", dnsmessage.TypeA), "udp")} {
		if answer := s.answer(message, "udp"); answer != nil {
			t.Errorf("%s is answered", name)
		}
	}
}

// TestForwardedQuestions go to the machine's resolvers, the next one when one does not answer, and come back as they are.
func TestForwardedQuestions(t *testing.T) {
	packets := must.Value(net.ListenPacket("udp", "127.0.0.1:0"))(t)
	listener := must.Value(net.Listen("tcp", packets.LocalAddr().String()))(t)
	defer closers{packets, listener}.Close()
	go func() {
		buffer := make([]byte, maxDatagram)
		if n, from, err := packets.ReadFrom(buffer); err == nil {
			_, _ = packets.WriteTo(outsideAnswer(buffer[:n], 4), from)
		}
	}()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		if asked, err := readFramed(conn); err == nil {
			_ = writeFramed(conn, outsideAnswer(asked, 6))
		}
	}()
	gone := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	must.NoError(t, gone.Close())
	s := &dnsServer{upstream: func() []string { return []string{gone.Addr().String(), packets.LocalAddr().String()} }}
	for transport, last := range map[string]byte{"udp": 4, "tcp": 6} {
		var got dnsmessage.Message
		must.NoError(t, got.Unpack(s.answer(question("web.ns.svc.cluster.local.example.", dnsmessage.TypeA), transport)))
		must.Equal(t, "identity by "+transport, got.ID, 77)
		if len(got.Answers) != 1 {
			t.Fatalf("by %s: %+v", transport, got)
		}
		must.Equal(t, "address by "+transport, got.Answers[0].Body.(*dnsmessage.AResource).A, [4]byte{192, 0, 2, last})
	}
}

// outsideAnswer is that of a resolver to which every name has an address.
func outsideAnswer(message []byte, last byte) []byte {
	var asked dnsmessage.Message
	if err := asked.Unpack(message); err != nil {
		return nil
	}
	return reply(asked.Header, asked.Questions[0], dnsmessage.RCodeSuccess, []net.IP{net.IPv4(192, 0, 2, last)}, "udp")
}

// TestLongAnswers are cut off by UDP, so that the resolver asks again by TCP, where they are whole.
func TestLongAnswers(t *testing.T) {
	many := func(context.Context, string) (found []net.IP, exists bool, err error) {
		for i := range 200 {
			found = append(found, net.IPv4(10, 129, 0, byte(i)))
		}
		return found, true, nil
	}
	s := &dnsServer{lookup: many}
	for transport, want := range map[string]int{"udp": 0, "tcp": 200} {
		var got dnsmessage.Message
		must.NoError(t, got.Unpack(s.answer(question("many.ns.svc.cluster.local.", dnsmessage.TypeA), transport)))
		must.Equal(t, "number of addresses by "+transport, len(got.Answers), want)
		must.Equal(t, "cut off by "+transport, got.Truncated, want == 0)
	}
}

func TestResolversOfTheMachine(t *testing.T) {
	must.Equal(t, "resolvers", parseResolvers("# nameserver 9.9.9.9\nsearch example.com\nnameserver 192.0.2.1\nnameserver\t2001:db8::1 \nnameserver\n"), []string{"192.0.2.1:53", "[2001:db8::1]:53"})
}
