package main

import (
	"context"
	"errors"
	"time"

	"github.com/IBM/sarama"
	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill-kafka/v3/pkg/kafka"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"
	"github.com/jackc/pgx/v5/pgxpool"
)

// watermillRouter is Watermill's router with its Kafka subscriber and its own middlewares, set as
// good as its documentation allows:
//
//   - Deduplicator by the event's key, not by its default, a checksum of the payload. It is around
//     Retry: inside, each retry would pass for a duplicate.
//   - PoisonQueueWithFilter for events that cannot be decoded.
//   - Retry as in https://watermill.io/docs/getting-started/: three times. Then "the message is
//     Nacked and it's up to the PubSub to resend it".
//   - The subscriber commits each offset when the message is acknowledged, not each second.
func watermillRouter(ctx context.Context, brokers string, db *pgxpool.Pool) error {
	logger := watermill.NewStdLogger(false, false)
	config := kafka.DefaultSaramaSubscriberConfig()
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.Group.Session.Timeout = session
	config.Consumer.Group.Heartbeat.Interval = session / 5
	subscriber, err := kafka.NewSubscriber(kafka.SubscriberConfig{
		Brokers: []string{brokers}, Unmarshaler: kafka.DefaultMarshaler{}, ConsumerGroup: group, OverwriteSaramaConfig: config,
	}, logger)
	if err != nil {
		return err
	}
	publisher, err := kafka.NewPublisher(kafka.PublisherConfig{Brokers: []string{brokers}, Marshaler: kafka.DefaultMarshaler{}}, logger)
	if err != nil {
		return err
	}
	defer publisher.Close()
	poison, err := middleware.PoisonQueueWithFilter(publisher, poisonTopic, func(err error) bool { return errors.Is(err, errInvalid) })
	if err != nil {
		return err
	}
	router, err := message.NewRouter(message.RouterConfig{}, logger)
	if err != nil {
		return err
	}
	deduplicator := &middleware.Deduplicator{KeyFactory: middleware.NewMessageHasherFromMetadataField(keyHeader)}
	router.AddMiddleware(
		deduplicator.Middleware,
		poison,
		middleware.Retry{MaxRetries: 3, InitialInterval: 100 * time.Millisecond, Logger: logger}.Middleware,
		middleware.Recoverer,
	)
	router.AddConsumerHandler("bookings", topic, subscriber, func(m *message.Message) error { return book(m.Context(), db, m.Payload) })
	return router.Run(ctx)
}
