/*
 * Evaluates a log of orders with the standard library: revenue per customer in an unordered_map, per product name in a
 * map, the best customers by sort, a report as a string.
 * Stands for everyday C++: small inlined functions of templates, allocations, strings that are built and compared.
 */
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "input.h"

namespace {

struct Order {
    std::string product;
    uint32_t customer;
    uint32_t quantity;
    uint64_t cents;
};

struct Customer {
    uint32_t id;
    uint64_t cents;
    uint32_t orders;
};

std::vector<Order> make_orders(uint64_t &seed, size_t count)
{
    static const char *const materials[] = {"steel", "oak", "glass", "paper", "copper", "wool"};
    static const char *const things[] = {"table", "lamp", "shelf", "clock", "box", "frame", "chair"};
    std::vector<Order> orders;
    for (size_t i = 0; i < count; i++) {
        std::string product = materials[random_below(&seed, 6)];
        product += ' ';
        product += things[random_below(&seed, 7)];
        product += " no. " + std::to_string(random_below(&seed, 40));
        uint32_t customer = random_below(&seed, 1 + random_below(&seed, 5000));
        orders.push_back({std::move(product), customer, 1 + random_below(&seed, 9), 100 + random_below(&seed, 90000)});
    }
    return orders;
}

std::vector<Customer> best_customers(const std::vector<Order> &orders, size_t count)
{
    std::unordered_map<uint32_t, Customer> by_id;
    for (const Order &order : orders) {
        Customer &customer = by_id[order.customer];
        customer.id = order.customer;
        customer.cents += order.cents * order.quantity;
        customer.orders++;
    }
    std::vector<Customer> customers;
    for (const auto &entry : by_id) {
        customers.push_back(entry.second);
    }
    std::sort(customers.begin(), customers.end(), [](const Customer &a, const Customer &b) {
        return a.cents != b.cents ? a.cents > b.cents : a.id < b.id;
    });
    customers.resize(std::min(count, customers.size()));
    return customers;
}

std::map<std::string, uint64_t> quantities(const std::vector<Order> &orders)
{
    std::map<std::string, uint64_t> result;
    for (const Order &order : orders) {
        result[order.product] += order.quantity;
    }
    return result;
}

std::string report(const std::vector<Order> &orders)
{
    std::string text;
    for (const Customer &customer : best_customers(orders, 100)) {
        text += "customer " + std::to_string(customer.id) + ": " + std::to_string(customer.cents / 100) + " in " +
                std::to_string(customer.orders) + " orders\n";
    }
    for (const auto &[product, quantity] : quantities(orders)) {
        if (quantity > 20) {
            text += product + " x " + std::to_string(quantity) + '\n';
        }
    }
    return text;
}

} // namespace

int main(int argc, char **argv)
{
    uint64_t seed = 40;
    std::vector<Order> orders = make_orders(seed, 12000);

    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 320);
    for (int i = 0; i < rounds; i++) {
        for (unsigned char c : report(orders)) {
            checksum = checksum * 31 + c;
        }
        orders[random_below(&seed, static_cast<uint32_t>(orders.size()))].quantity++;
    }
    std::printf("%016" PRIx64 "\n", checksum);
    return 0;
}
