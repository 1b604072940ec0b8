"""Who is asked, and how politely: transports, clients, replicas, what is remembered of hosts."""
