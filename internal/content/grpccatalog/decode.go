package grpccatalog

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the codec that is used for everything but this
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// bound is how large a message may be, as it is sent and as it is decoded: a channel without a name is sent as 2 bytes, and takes 90.
type bound struct{ wire, decoded int }

// Of the largest catalog, that of all community operators, the largest package has 38 channels and 2 KB, and the largest bundle 1.2 MB.
var (
	nameBound    = bound{64 << 10, 256 << 10}
	packageBound = bound{256 << 10, 2 << 20}
	bundleBound  = bound{8 << 20, 32 << 20}
	smallBound   = bound{64 << 10, 256 << 10} // of answers about the server
)

// About what parts of a message take in memory beside their bytes: rather too much than too little.
const (
	messageCost = 128
	stringCost  = 32
)

// decoder is the codec of one call, that decodes no message that costs too much. It holds a turn while a message that costs much is used.
type decoder struct {
	encoding.CodecV2
	ctx   context.Context // of the call: a codec gets none
	bound bound
	turn  turn
	held  bool
}

func (c *Client) decoder(ctx context.Context, b bound) *decoder {
	return &decoder{CodecV2: encoding.GetCodecV2("proto"), ctx: ctx, bound: b, turn: c.turns.heavy}
}

// options make a call use the decoder.
func (d *decoder) options() []grpc.CallOption {
	return []grpc.CallOption{grpc.ForceCodecV2(d), grpc.MaxCallRecvMsgSize(d.bound.wire)}
}

// release is called when the message is not used any more, or before another turn is waited for.
func (d *decoder) release() {
	if d.held {
		d.held = false
		d.turn.end()
	}
}

// Unmarshal refuses messages before any of their parts is made.
func (d *decoder) Unmarshal(data mem.BufferSlice, v any) error {
	message, ok := v.(proto.Message)
	if !ok {
		return fmt.Errorf("decode a %T: it is no message", v)
	}
	text := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer text.Free()
	cost, err := costOf(text.ReadOnlyData(), message.ProtoReflect().Descriptor(), d.bound.decoded)
	if err != nil {
		return err
	}
	if cost > heavy && !d.held {
		if err := d.turn.begin(d.ctx); err != nil {
			return err
		}
		d.held = true
	}
	return proto.Unmarshal(text.ReadOnlyData(), message)
}

// costOf estimates what an encoded message takes once it is decoded, and refuses one that takes more than most.
func costOf(text []byte, d protoreflect.MessageDescriptor, most int) (int, error) {
	cost := messageCost + len(text)
	for len(text) > 0 && cost <= most {
		number, kind, n := protowire.ConsumeTag(text)
		if n < 0 {
			return 0, fmt.Errorf("read a %s: %w", d.FullName(), protowire.ParseError(n))
		}
		text = text[n:]
		n = protowire.ConsumeFieldValue(number, kind, text)
		if n < 0 {
			return 0, fmt.Errorf("read field %d of a %s: %w", number, d.FullName(), protowire.ParseError(n))
		}
		value := text[:n]
		text = text[n:]
		field := d.Fields().ByNumber(number)
		switch {
		case field != nil && field.Message() != nil && kind == protowire.BytesType:
			inner, _ := protowire.ConsumeBytes(value)
			part, err := costOf(inner, field.Message(), most-cost)
			if err != nil {
				return 0, err
			}
			cost += part
		default:
			cost += stringCost
		}
	}
	if cost > most {
		return 0, fmt.Errorf("a %s takes more than %d bytes of memory; serve a smaller one", d.FullName(), most)
	}
	return cost, nil
}

// maxValues bounds the values of JSON in a bundle, each of which takes about a hundred bytes while it is read, however short it is.
const maxValues = 300_000
