package catalogserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"fairlead.dev/fairlead/internal/content/catalogserver"
	"fairlead.dev/fairlead/test/must"
)

// childVariable makes a process of this test program a server of the directory that it names, whose memory is its own.
const childVariable = "FAIRLEAD_TEST_CATALOG_SERVER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		if err := serveChild(dir, os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serveChild serves until its standard input ends, and says where.
func serveChild(dir, cacheDir string) error {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	origins, err := catalogserver.Open(catalogserver.Options{CacheDir: cacheDir, PollDirs: 2 * time.Second})
	if err != nil {
		return err
	}
	defer origins.Close()
	catalogs, err := origins.Catalogs([]string{"full=" + dir})
	if err != nil {
		return err
	}
	return catalogserver.Run(ctx, catalogserver.Config{
		GRPC: "127.0.0.1:0", HTTP: "127.0.0.1:0", Catalogs: catalogs, Log: slog.New(slog.DiscardHandler),
		Listening: func(a catalogserver.Addresses) { fmt.Println(a.GRPC, a.HTTP) },
	})
}

// child is a server in a process of its own.
type child struct {
	conn  *grpc.ClientConn
	url   string
	ready time.Duration // from the start of the process until it is healthy
	pid   int
	stop  func()
}

// startChild starts a server and waits until it is healthy.
func startChild(b *testing.B, dir, cacheDir string) *child {
	b.Helper()
	start := time.Now()
	cmd := exec.Command(os.Args[0], cacheDir)
	cmd.Env = append(os.Environ(), childVariable+"="+dir)
	cmd.Stderr = os.Stderr
	in := must.Value(cmd.StdinPipe())(b)
	out := must.Value(cmd.StdoutPipe())(b)
	must.NoError(b, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	must.NoErrorf(b, err, "the server does not say where it listens")
	calls, web, _ := strings.Cut(strings.TrimSpace(line), " ")
	conn := must.Value(grpc.NewClient("passthrough:///"+calls, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20))))(b)
	awaitHealth(b, conn)
	return &child{conn, "http://" + web, time.Since(start), cmd.Process.Pid, func() {
		conn.Close()
		in.Close()
		must.NoErrorf(b, cmd.Wait(), "the server ended")
	}}
}

func awaitHealth(b *testing.B, conn *grpc.ClientConn) {
	b.Helper()
	stream, err := healthpb.NewHealthClient(conn).Watch(b.Context(), &healthpb.HealthCheckRequest{Service: "Registry"})
	for err == nil {
		var answer *healthpb.HealthCheckResponse
		if answer, err = stream.Recv(); answer.GetStatus() == healthpb.HealthCheckResponse_SERVING {
			return
		}
	}
	b.Fatal(err)
}

// resident is the memory of the server in MB, as others print it.
func (c *child) resident(b *testing.B) float64 {
	b.Helper()
	content := must.Value(os.ReadFile(fmt.Sprintf("/proc/%d/status", c.pid)))(b)
	_, rest, _ := strings.Cut(string(content), "VmRSS:")
	line, _, _ := strings.Cut(rest, "kB")
	kb := must.Value(strconv.ParseFloat(strings.TrimSpace(line), 64))(b)
	return kb * 1024 / 1e6
}
