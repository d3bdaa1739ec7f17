package manager

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Formats of the log.
const (
	logText = "text"
	logJSON = "json"
)

// logging is how the manager logs.
type logging struct {
	format    string
	verbosity int
}

// start makes everything in this process log to a writer, libraries included.
func (l logging) start(to io.Writer) (logr.Logger, error) {
	options := &slog.HandlerOptions{Level: slog.Level(-l.verbosity)}
	var lines slog.Handler
	switch l.format {
	case logText:
		lines = slog.NewTextHandler(to, options)
	case logJSON:
		lines = slog.NewJSONHandler(to, options)
	default:
		return logr.Logger{}, fmt.Errorf("--log-format %q: choose %s or %s", l.format, logText, logJSON)
	}
	log := logr.FromSlogHandler(&logHandler{lines: lines})
	ctrl.SetLogger(log)
	klog.SetLogger(log)
	return log, nil
}

// libraryLevel is the level at which informational lines of libraries are written: what the manager does is the story, and how its informers start
// is not.
const libraryLevel = slog.Level(-2)

// logHandler writes each key once, with the value that was given last: the object that a line is about rather than the request that led to it. What
// libraries have to say, unless it is an error, needs libraryLevel.
type logHandler struct {
	lines slog.Handler
	attrs []slog.Attr
}

// Enabled reports whether lines of a level are written.
func (h *logHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.lines.Enabled(ctx, level)
}

// Handle writes a line.
func (h *logHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level <= slog.LevelInfo && !h.lines.Enabled(ctx, libraryLevel) && ofLibrary() {
		return nil
	}
	attrs := slices.Clone(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, a)
		return true
	})
	line := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	for i, a := range attrs {
		if !slices.ContainsFunc(attrs[i+1:], func(later slog.Attr) bool { return later.Key == a.Key }) {
			line.AddAttrs(a)
		}
	}
	return h.lines.Handle(ctx, line)
}

// WithAttrs returns a handler whose lines begin with attributes.
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logHandler{lines: h.lines, attrs: slices.Concat(h.attrs, attrs)}
}

// WithGroup returns a handler whose further attributes are in a group, where their keys are their own.
func (h *logHandler) WithGroup(name string) slog.Handler {
	return h.lines.WithAttrs(h.attrs).WithGroup(name)
}

// ownCode is what the names of the project's functions begin with.
const ownCode = "fairlead.dev/fairlead/"

// passing are the packages that a line goes through on its way.
var passing = []string{"log/slog.", "github.com/go-logr/", "k8s.io/klog/", "sigs.k8s.io/controller-runtime/pkg/log.", ownCode + "internal/manager.(*logHandler)", ownCode + "internal/reconcile.Log"}

// ofLibrary reports whether the line that is being written comes from code of others.
func ofLibrary() bool {
	var callers [16]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers[:])])
	for {
		frame, more := frames.Next()
		if !slices.ContainsFunc(passing, func(prefix string) bool { return strings.HasPrefix(frame.Function, prefix) }) {
			return !strings.HasPrefix(frame.Function, ownCode)
		}
		if !more {
			return false
		}
	}
}
