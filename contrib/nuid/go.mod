module github.com/nats-io/nuid

go 1.26.0
