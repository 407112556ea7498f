-- By hand: orders are found by customer, and payments by order.
SET LOCAL lock_timeout = '2s';

CREATE INDEX orders_customer_id_idx ON orders (customer_id);
CREATE INDEX payments_order_id_idx ON payments (order_id);
