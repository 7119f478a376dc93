/**
 * Tool lists as catalogs have them, with the pairs that a reader would mix up. Every other pair of a list is one that a
 * reader tells apart. The threshold of `eval --confusion` was chosen on them.
 */
export interface LabelledTool {
  readonly name: string;
  readonly description: string;
  readonly args: readonly string[];
}

export interface LabelledList {
  readonly title: string;
  readonly tools: readonly LabelledTool[];
  readonly confusable: readonly (readonly [a: string, b: string])[];
}

const t = (name: string, description: string, ...args: readonly string[]): LabelledTool => ({ name, description, args });

export const LISTS: readonly LabelledList[] = [
  {
    title: "support",
    tools: [
      t("search_tickets", "Search support tickets by their texts, newest first. Use when the user asks about a problem that was reported.", "query", "status", "customer"),
      t("find_support_cases", "Find support cases by what customers wrote. Use when the user asks about reported problems.", "query", "status", "customer"),
      t("get_ticket", "Look up one support ticket by its number and return everything known about it.", "ticket_id"),
      t("fetch_ticket_by_number", "Return one support ticket by its number with everything known about it.", "ticket_number"),
      t("count_open_tickets", "Count the tickets that are open, optionally of one team.", "team"),
      t("search_help_articles", "Search the articles of the help centre that explain how the product works.", "query", "product"),
      t("search_knowledge_base", "Search the knowledge base articles that explain how the product works.", "query", "product"),
      t("list_agents_on_duty", "List the people of the support desk who are on duty on a day.", "day"),
      t("customer_satisfaction", "Return survey scores by month and region.", "month", "region"),
    ],
    confusable: [["search_tickets", "find_support_cases"], ["get_ticket", "fetch_ticket_by_number"], ["search_help_articles", "search_knowledge_base"]],
  },
  {
    title: "shop",
    tools: [
      t("search_orders", "Search the orders of customers by their texts. Use when the user asks about orders that were paid.", "query", "customer", "state"),
      t("search_returns", "Search the orders of customers by their texts. Use when the user asks about orders that came back.", "query", "customer", "state"),
      t("search_products", "Search the catalogue by what a product is and does, with its price and size.", "query", "category", "max_price"),
      t("find_items", "Find products of the catalogue by what they are and do, with price and size.", "query", "category", "max_price"),
      t("get_invoice", "Look up one invoice by its number.", "invoice_number"),
      t("get_receipt", "Look up one receipt by its number.", "receipt_number"),
      t("stock_level", "Return how many pieces of an article each warehouse has.", "sku", "warehouse"),
      t("list_suppliers", "List the companies that deliver goods, with their countries and terms of payment.", "country"),
      t("reviews_of_product", "Return what buyers wrote about an article and how many stars they gave.", "sku", "min_stars"),
      t("shipping_quote", "Calculate what sending a parcel costs, by weight and destination.", "weight_kg", "destination"),
    ],
    confusable: [["search_orders", "search_returns"], ["search_products", "find_items"], ["get_invoice", "get_receipt"]],
  },
  {
    title: "code",
    tools: [
      t("search_code", "Search source files of a repository for a text or a pattern.", "repository", "query", "path"),
      t("grep_repository", "Search the source files of a repository for a text or pattern.", "repository", "pattern", "path"),
      t("list_pull_requests", "List the pull requests of a repository with their state.", "repository", "state", "author"),
      t("list_merge_requests", "List the merge requests of a repository with their state.", "repository", "state", "author"),
      t("list_issues", "List the bugs and wishes that were filed for a repository.", "repository", "label"),
      t("read_file", "Return the text of one file at a revision.", "repository", "path", "revision"),
      t("commit_history", "Return who changed what and when, newest first.", "repository", "since"),
      t("workflow_runs", "Return the results of builds and tests of a branch.", "repository", "branch"),
      t("release_notes", "Return what a published version changed for its users.", "version"),
    ],
    confusable: [["search_code", "grep_repository"], ["list_pull_requests", "list_merge_requests"]],
  },
  {
    title: "people",
    tools: [
      t("search_employees", "Search the staff directory by name, role or place of work.", "query", "department", "city"),
      t("find_colleagues", "Search colleagues in the staff directory by name, role or place.", "query", "department", "city"),
      t("get_manager", "Return the person to whom an employee reports.", "employee_id"),
      t("vacation_days", "Return how many days of leave an employee has left in a year.", "employee_id", "year"),
      t("absence_balance", "Return the days of leave that an employee has left this year.", "employee_id", "year"),
      t("open_positions", "List jobs that are advertised, with salary range and start date.", "department", "level"),
      t("salary_bands", "Return the lowest and the highest pay of a level in a country.", "level", "country"),
      t("onboarding_checklist", "Return the tasks of somebody's first week.", "role"),
    ],
    confusable: [["search_employees", "find_colleagues"], ["vacation_days", "absence_balance"]],
  },
  {
    title: "films",
    tools: [
      t("search_movies", "Find films by words of their title, genre, story and director. Use for questions about films.", "query", "genre", "min_rating"),
      t("search_films", "Find movies by words of the title, genre, story or director.", "query", "genre", "min_rating"),
      t("get_movie", "Look up one film by its exact title and return everything known about it.", "title"),
      t("count_movies", "Count films, optionally of one genre, age rating, studio or period.", "genre", "rating", "studio"),
      t("box_office", "Return budgets and earnings in US dollars, worldwide and at home.", "title"),
      t("cinema_showtimes", "Return when and where a film is shown near a place today.", "title", "city"),
      t("actor_biography", "Return the life of a performer: birth, education, prizes.", "name"),
      t("award_winners", "List who won a prize in a year, by category.", "prize", "year"),
    ],
    confusable: [["search_movies", "search_films"]],
  },
  {
    title: "travel",
    tools: [
      t("search_flights", "Search flights between two airports on a day, cheapest first.", "from", "to", "date"),
      t("find_air_tickets", "Find flights between two airports on a date, the cheapest first.", "origin", "destination", "date"),
      t("search_hotels", "Search rooms in a city for some nights, with breakfast and stars.", "city", "check_in", "nights"),
      t("search_trains", "Search trains between two stations on a day, fastest first.", "from", "to", "date"),
      t("weather_forecast", "Return temperature and rain of the next days at a place.", "place", "days"),
      t("forecast_weather", "Return the temperature and rain expected at a place in the next days.", "place", "days"),
      t("visa_rules", "Return which papers a citizen of one country needs for another.", "citizenship", "country"),
      t("exchange_rate", "Convert an amount of money from one currency to another.", "amount", "currency", "target"),
      t("cancel_policy", "Return what a booking costs when it is called off.", "booking_id"),
    ],
    confusable: [["search_flights", "find_air_tickets"], ["weather_forecast", "forecast_weather"], ["search_flights", "search_trains"]],
  },
  {
    title: "documents",
    tools: [
      t("search_contracts", "Search signed contracts by their clauses. Use for obligations and deadlines.", "query", "party", "year"),
      t("search_agreements", "Search signed agreements by their clauses, obligations and deadlines.", "query", "party", "year"),
      t("search_policies", "Search internal rules on security, travel and expenses.", "query", "topic"),
      t("search_guidelines", "Search internal guidelines on security, travel and expenses.", "query", "topic"),
      t("summarise_meeting", "Return decisions and tasks of a recorded meeting.", "meeting_id"),
      t("meeting_minutes", "Return the decisions and tasks that a meeting recorded.", "meeting_id"),
      t("list_folders", "List the folders of the archive with their owners.", "owner"),
      t("translate_text", "Translate a text into another language.", "text", "language"),
    ],
    confusable: [["search_contracts", "search_agreements"], ["search_policies", "search_guidelines"], ["summarise_meeting", "meeting_minutes"]],
  },
  {
    title: "operations",
    tools: [
      t("query_logs", "Search log lines of a service by text and time.", "service", "query", "since"),
      t("search_log_lines", "Search the log lines of a service by text in a period of time.", "service", "query", "since"),
      t("service_metrics", "Return latency, traffic and error rates of a service.", "service", "window"),
      t("list_incidents", "List outages with their start, end and cause.", "severity", "since"),
      t("list_alerts", "List alarms that fire now, with the rule that raised them.", "severity"),
      t("deployment_history", "Return which version of a service ran when, and who released it.", "service", "since"),
      t("runbook", "Return the steps that an engineer takes when a rule fires.", "rule"),
      t("cost_report", "Return what cloud resources cost by team and month.", "team", "month"),
    ],
    confusable: [["query_logs", "search_log_lines"]],
  },
  {
    title: "one sentence for all",
    tools: [
      t("search_laws", "Search the laws of the collection by meaning. Use when the user asks about laws.", "query", "year"),
      t("search_statutes", "Search the statutes and laws of the collection by meaning. Use when the user asks about statutes or laws.", "query", "year"),
      t("search_recipes", "Search the recipes of the collection by meaning. Use when the user asks about recipes.", "query", "year"),
      t("search_songs", "Search the songs of the collection by meaning. Use when the user asks about songs.", "query", "year"),
      t("search_paintings", "Search the paintings of the collection by meaning. Use when the user asks about paintings.", "query", "year"),
      t("search_pictures", "Search the pictures and paintings of the collection by meaning. Use when the user asks about pictures.", "query", "year"),
      t("search_poems", "Search the poems of the collection by meaning. Use when the user asks about poems.", "query", "year"),
    ],
    confusable: [["search_laws", "search_statutes"], ["search_paintings", "search_pictures"]],
  },
  {
    title: "bank",
    tools: [
      t("list_transactions", "List what was paid into and out of an account, newest first.", "account", "since"),
      t("account_statement", "Return the payments into and out of an account in a period.", "account", "since"),
      t("account_balance", "Return how much money is in an account now.", "account"),
      t("current_balance", "Return the money that an account has at this moment.", "account"),
      t("loan_terms", "Return interest, rates and end of a credit.", "loan_id"),
      t("find_branch", "Return the nearest office of the bank with its opening hours.", "city"),
      t("find_cash_machine", "Return the nearest machine that gives cash, with its fees.", "city"),
      t("card_limits", "Return how much a card may spend a day and a month.", "card_id"),
    ],
    confusable: [["list_transactions", "account_statement"], ["account_balance", "current_balance"]],
  },
];
