//! The answers to `stats`: general, settings, items, slabs, reset.
//! [`Call::carry_out`](super::Call::carry_out) calls it; names are memcached's, so that its tools can read them.

use caudal_proto::text::Line;

use super::Call;
use crate::store::Stats;

impl Call<'_> {
    /// Answers `stats`, whose words behind the name are `arguments`.
    pub(super) fn stats(&mut self, arguments: &[u8]) {
        match arguments {
            b"" => self.general(),
            b"settings" => self.settings(),
            b"items" => self.items(),
            b"slabs" => self.slabs(),
            b"reset" => {
                self.service.reset();
                return self.line(Line::Reset);
            }
            _ => return self.line(Line::Error),
        }
        self.line(Line::End);
    }

    fn general(&mut self) {
        let service = self.service;
        self.stat_number("pid", u64::from(std::process::id()));
        self.stat_number("uptime", u64::from(self.now.saturating_sub(service.started())));
        self.stat_number("time", u64::from(self.now));
        self.stat("version", crate::service::VERSION);
        self.stat_number("pointer_size", u64::from(usize::BITS));
        service.host().statistics(&mut |name, value| self.stat_number(name, value));
        self.stat_number("cmd_flush", service.flushes.get());
        self.stat_number("cmd_scan", service.scans.get());
        service.store().stats().each(|name, value| self.stat_number(name, value));
    }

    fn settings(&mut self) {
        let service = self.service;
        let config = service.config();
        let numbers = [
            ("maxbytes", config.store.memory_bytes as u64),
            ("item_size_max", config.store.value_bytes_max as u64),
            ("shards", config.store.shards as u64),
            ("get_line_bytes_max", config.get_line_bytes_max as u64),
            ("scan_items_max", u64::from(config.scan_items_max)),
            ("scan_bytes_max", config.scan_bytes_max as u64),
            ("output_bytes_mark", config.output_bytes_mark as u64),
            ("datagram_answer_bytes_max", config.datagram_answer_bytes_max as u64),
        ];
        for (name, value) in numbers {
            self.stat_number(name, value);
        }
        for (name, value) in [
            ("evictions", "on"),
            ("cas_enabled", "yes"),
            ("flush_enabled", "yes"),
            ("binding_protocol", "ascii"),
            ("auth_enabled_sasl", "no"),
            ("auth_enabled_ascii", "no"),
        ] {
            self.stat(name, value);
        }
        service.host().settings(&mut |name, value| self.stat(name, value));
    }

    /// memcached has a group of these for each size of items. Here all sizes share one memory, and are class 1.
    fn items(&mut self) {
        let stats = self.service.store().stats();
        if stats.items == 0 {
            return;
        }
        self.stat_number("items:1:number", stats.items);
        self.stat_number("items:1:mem_requested", stats.bytes);
        for (name, of) in [
            ("items:1:evicted", "evictions"),
            ("items:1:outofmemory", "store_no_memory"),
            ("items:1:reclaimed", "reclaimed"),
            ("items:1:crawler_reclaimed", "crawler_reclaimed"),
        ] {
            self.stat_number(name, stats.of(of));
        }
    }

    /// As [`items`](Self::items): one class. Memory is the allocator's, so `total_malloced` is what items take of it.
    fn slabs(&mut self) {
        let stats: Stats = self.service.store().stats();
        self.stat_number("active_slabs", u64::from(stats.items > 0));
        self.stat_number("total_malloced", stats.bytes);
    }
}
